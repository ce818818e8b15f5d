import { availableParallelism } from 'node:os';

const { FAULTS, ESTATE, FLEET, CONTAINERS } = process.env;

/** Faults of which `npm test` has a short pass. */
const SHORT = 'lost-commit|start';
const NOT_IN = {
  // npm test
  none: [
    `/test/faults/(?!(${SHORT})[.])`,
    '/libs/embedded-postgres/src/.*[.]faults',
    '/test/(contract/time-log-feed-(copies|journeys)[.]property|e2e/bad-input[.]fuzz)[.]',
  ],
  full: [],
  // What is left for CI to run four at a time (extent.ts): none of those that measure what others get.
  rest: [`/test/faults/(${SHORT}|history|rude-clients|unread-answers|(tcp-|broker-)?abuse)[.]`],
};
/** Needs brokers, a browser, or more than the lockfile installs. */
const OF_ESTATE = '/test/(estate/|browser/|(messages|events)/(nats|rabbitmq|tcp-faults))';

export default {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/src', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e.ts', '**/*.faults.ts'],
  // What has a command of its own (CONTRIBUTING.md).
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/(tools|package|estate/nest-.*)/',
    ...NOT_IN[FAULTS ?? 'none'],
    ...(ESTATE ? [] : [OF_ESTATE]),
    ...(FLEET ? [] : ['<rootDir>/test/fleet/']),
    ...(CONTAINERS ? [] : ['<rootDir>/test/containers/']),
  ],
  testEnvironment: '<rootDir>/test/support/test-environment.mjs',
  // Workspaces are tested as they are written, not as they were built.
  testEnvironmentOptions: { customExportConditions: ['@time-logs/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  coverageProvider: 'v8',
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  reporters: [
    'default',
    '<rootDir>/test/faults/support/survival-reporter.mjs',
    '<rootDir>/test/support/long-test-reporter.mjs',
  ],
  // Ends what hangs; no test is meant to take a tenth of it.
  testTimeout: 600_000,
  // Most tests wait for processes, servers and limits of time: two workers more than there are cores keep those busy.
  maxWorkers: availableParallelism() + 2,
};
