import base from '../../jest.config.mjs';

/** The tests of what hosts install: they pack, and install from the npm registry where it can be reached. */
export default { ...base, roots: ['<rootDir>/test/package'], testPathIgnorePatterns: ['/node_modules/'] };
