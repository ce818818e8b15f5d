import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { createMigratedDatabase, type TestDatabase } from './test-database.js';

/**
 * A database for the tests of a file or a `describe` block. Its members are there from `beforeAll` on. `afterAll` hooks
 * run in their order: what uses it ends in one that stands before it.
 */
export function useDatabase(create: () => Promise<TestDatabase> = createMigratedDatabase): TestDatabase {
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await create());
  });
  afterAll(() => database.drop());
  return database;
}

/** A folder for them, whose name begins so. Gives the paths of what is in it. */
export function useFolder(name: string): (...names: string[]) => string {
  let folder: string;
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), name)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return (...names) => join(folder, ...names);
}
