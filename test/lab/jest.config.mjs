import base from '../../jest.config.mjs';

/** Minutes that the suite `soak` runs. */
const { MINUTES = '60' } = process.env;

/** The configuration for test/lab/suite.mjs, which names the files of each suite. */
export default {
  ...base,
  // Ends what hangs.
  testTimeout: (60 + Number(MINUTES)) * 60_000,
  globals: {},
  testMatch: [...base.testMatch, '**/*.faults.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/lab/estate/host/'],
};
