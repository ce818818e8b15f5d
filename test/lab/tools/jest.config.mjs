import base from '../../../jest.config.mjs';

/** The tests that need the tools: `npm run lint` runs them, without the service and its database. */
const { globalSetup: _setup, globalTeardown: _teardown, ...config } = base;

export default {
  ...config,
  roots: ['<rootDir>/test/lab/tools'],
  testPathIgnorePatterns: ['/node_modules/'],
};
