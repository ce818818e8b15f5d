import base from '../../jest.config.mjs';

/** What test/lab/suite.mjs runs; it names the files of each suite. */
export default {
  ...base,
  globals: {},
  testMatch: [...base.testMatch, '**/*.faults.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/lab/estate/nest-'],
  reporters: [...base.reporters, '<rootDir>/test/lab/faults/support/survival-reporter.mjs'],
};
