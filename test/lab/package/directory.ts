import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';

/** An empty directory for the tests of a block, which is removed after them. */
export function useDirectory(): { readonly path: string } {
  const directory = { path: '' };
  beforeAll(async () => {
    directory.path = await mkdtemp(join(tmpdir(), 'time-logs-'));
  });
  afterAll(() => rm(directory.path, { recursive: true, force: true }));
  return directory;
}
