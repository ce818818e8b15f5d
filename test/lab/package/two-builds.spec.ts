import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { packLib, PROJECT, run } from './run.js';
import { unpack } from './tarball.js';

describe('the two builds of the package in one process', () => {
  const inFolder = useFolder('time-logs-');

  beforeAll(async () => {
    // The program is in the package's own folder, so it finds the package by name; its packages are the project's.
    const [tarball] = await packLib(inFolder());
    await unpack(tarball, inFolder());
    await symlink(join(PROJECT, 'node_modules'), inFolder('node_modules'));
    await cp(join(import.meta.dirname, 'two-builds.fixture.mjs'), inFolder('program.mjs'));
  });

  it("know each other's errors, logs, scopes and guards", async () => {
    expect(JSON.parse(await run(process.execPath, ['program.mjs'], inFolder()))).toEqual({
      DomainError: [true, true],
      TimeLog: [true, true],
      answers: [
        ['/esm/refused', 404, 'thrown below esm'],
        ['/esm/closed', 403, 'the token lacks the scope a-scope'],
        ['/commonjs/refused', 404, 'thrown below commonjs'],
        ['/commonjs/closed', 403, 'the token lacks the scope a-scope'],
      ],
    });
  });
});
