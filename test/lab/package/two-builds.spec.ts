import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packLib, PROJECT, run } from './run.js';
import { unpacked } from './tarball.js';

describe('the two builds of the package in one process', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-two-builds-'));
    // The program is in the package's own folder, so it finds the package by name; its packages are the project's.
    for (const [path, text] of await unpacked(await packLib(directory))) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    await symlink(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
    await cp(join(import.meta.dirname, 'two-builds.fixture.mjs'), join(directory, 'program.mjs'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it("know each other's errors, logs, scopes and guards", async () => {
    expect(JSON.parse(await run(process.execPath, ['program.mjs'], directory))).toEqual({
      DomainError: [true, true],
      TimeLogError: [true, true],
      TimeLog: [true, true],
      WRITE_LIMITS: true,
      answers: [
        ['/esm/refused', 404, 'thrown below esm'],
        ['/esm/closed', 403, 'the token lacks the scope a-scope'],
        ['/commonjs/refused', 404, 'thrown below commonjs'],
        ['/commonjs/closed', 403, 'the token lacks the scope a-scope'],
      ],
    });
  });
});
