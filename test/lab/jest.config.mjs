import base from '../../jest.config.mjs';

/** Minutes that the suite `load` runs. */
const { MINUTES = '60' } = process.env;

/** What test/lab/suite.mjs runs; it names the files of each suite. */
export default {
  ...base,
  // The one limit of tests: it ends what hangs. What a test waits for has that of eventually.ts.
  testTimeout: (60 + Number(MINUTES)) * 60_000,
  globals: {},
  testMatch: [...base.testMatch, '**/*.faults.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/lab/estate/nest-'],
  reporters: [...base.reporters, '<rootDir>/test/lab/faults/support/survival-reporter.mjs'],
};
