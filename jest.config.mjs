import { availableParallelism } from 'node:os';

/** What takes long in a short pass too. */
const LONG_FAULTS = [
  '<rootDir>/test/faults/(abuse|big-backup|blocked-commit|broker-abuse|busy-database|durability|encoding|events|frozen-database|keyed-creates|libpq-variables|long-transactions|lost-database|moved-feed|pipelining-clients|refusing-database|standby|tcp-abuse|transaction-pooler|unread-answers)',
  '<rootDir>/libs/embedded-postgres/src/.*[.]faults',
];

export default {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/src', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e.ts', '**/*.faults.ts'],
  // What has a command of its own (CONTRIBUTING.md): it takes long, or needs more than the lockfile installs.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/(tools|package|estate/nest-.*)/',
    ...(process.env.FAULTS === 'full' ? [] : LONG_FAULTS),
    ...(process.env.FLEET ? [] : ['<rootDir>/test/fleet/']),
    ...(process.env.ESTATE === 'full'
      ? []
      : ['<rootDir>/test/(estate/|(messages|events)/(nats|rabbitmq|tcp-faults))']),
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
  reporters: ['default', '<rootDir>/test/faults/support/survival-reporter.mjs'],
  // Ends what hangs; no test is meant to take a tenth of it.
  testTimeout: 180_000,
  // Most tests wait for processes, servers and limits of time: one worker more than there are cores keeps those busy.
  maxWorkers: availableParallelism() + 1,
};
