import base from '../../../jest.config.mjs';

/** The tests that need the tools, but neither the compiled service nor its database. */
const { globalSetup: _setup, globalTeardown: _teardown, setupFiles: _files, ...config } = base;

export default {
  ...config,
  roots: ['<rootDir>/test/lab/tools'],
  testPathIgnorePatterns: ['/node_modules/'],
};
