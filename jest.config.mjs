import { availableParallelism } from 'node:os';

/** What `npm test` runs: every behaviour of the service. test/lab/jest.config.mjs runs the rest. */
export default {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/src', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/lab/'],
  // For global-setup.mjs. Suites of the laboratory write more, or are about what a disk does.
  globals: { databasesInMemory: true },
  testEnvironment: '<rootDir>/test/support/test-environment.mjs',
  // Workspaces are tested as they are written, not as they were built.
  testEnvironmentOptions: { customExportConditions: ['@time-logs/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  coverageProvider: 'v8',
  setupFiles: ['<rootDir>/test/support/compiled.mjs'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // The one limit that ends what hangs; no test is meant to take a tenth of it.
  testTimeout: 600_000,
  // Most tests wait for processes, servers and timers: two workers more than there are cores keep those busy.
  maxWorkers: availableParallelism() + 2,
};
