import { chmod, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSocketDirectory, socketDirectoryOf } from './socket-directory.js';

describe('socketDirectoryOf', () => {
  it('is the data directory while the socket’s path fits', () => {
    const short = `/${'d'.repeat(80)}`;
    expect(socketDirectoryOf(short)).toBe(short);
  });

  it('counts bytes, not characters', () => {
    const path = `/${'ü'.repeat(60)}`;
    expect(socketDirectoryOf(path)).not.toBe(path);
  });

  it('is a different one for each long path, and the same at each start', () => {
    const [one, two] = [`/${'d'.repeat(200)}/one`, `/${'d'.repeat(200)}/two`];
    expect(socketDirectoryOf(one)).toBe(socketDirectoryOf(one));
    expect(socketDirectoryOf(one)).not.toBe(socketDirectoryOf(two));
  });
});

describe('openSocketDirectory', () => {
  let folder: string;
  let dataDirectory: string;
  let directory: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-'));
    dataDirectory = join(folder, 'd'.repeat(100));
    directory = socketDirectoryOf(dataDirectory);
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
    await rm(directory, { recursive: true, force: true });
  });

  const open = () => openSocketDirectory(dataDirectory, { uid: process.getuid!(), gid: process.getgid!() });

  it('creates a directory that no other user can enter, and uses it again', async () => {
    expect([await open(), await open()]).toEqual([directory, directory]);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it('refuses a directory that others can enter', async () => {
    await mkdir(directory);
    await chmod(directory, 0o755);
    await expect(open()).rejects.toThrow(
      `${directory}, the directory for PostgreSQL's socket, is not private to the service: remove it, or set DATA_DIR to a shorter path`,
    );
  });

  it('refuses a symbolic link', async () => {
    await mkdir(join(folder, 'elsewhere'), { mode: 0o700 });
    await symlink(join(folder, 'elsewhere'), directory);
    await expect(open()).rejects.toThrow('is not private to the service');
  });
});
