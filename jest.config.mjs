export default {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/src', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e.ts', '**/*.faults.ts'],
  // Run by `npm run lint`: they need what is installed in test/tools.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/tools/'],
  testEnvironment: 'node',
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
  testTimeout: 30_000,
  // Most tests wait for processes, servers and limits of time: one core can be shared with the next file.
  maxWorkers: '100%',
};
