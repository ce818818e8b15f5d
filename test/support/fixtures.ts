import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { createMigratedDatabase, type TestDatabase } from './test-database.js';

/**
 * A database for the tests of a file or a `describe` block, without a connection: storage.ts has one with the compiled
 * storage. Its members are set in `beforeAll`. `afterAll` hooks run in their order: end what uses it in an earlier one.
 */
export function useTestDatabase(create: () => Promise<TestDatabase> = createMigratedDatabase): TestDatabase {
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await create());
  });
  afterAll(() => database.drop());
  return database;
}

/** A folder for these tests, whose name begins with `name`. Returns a function that makes the paths of files in it. */
export function useFolder(name: string): (...names: string[]) => string {
  let folder: string;
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), name)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return (...names) => join(folder, ...names);
}
