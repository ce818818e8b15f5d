import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findBinaries } from '../../libs/embedded-postgres/src/binaries.js';
import { isOrdinary } from '../../libs/embedded-postgres/src/account.js';
import { runHere, type ServiceHere, startHere } from '../support/service-here.js';

const asRoot = process.getuid?.() === 0 ? describe : describe.skip;
/** A user without a name, and a group of another number. */
const [USER, GROUP] = [12345, 23456];
/** False for a project in root's own home. */
const canUserRunPostgres = () =>
  spawnSync(findBinaries().postgres, ['--version'], { uid: USER, gid: GROUP }).status === 0;

asRoot('root in the folder of a user (skipped for others)', () => {
  let folder: string;
  let dataDir: string;
  let service: ServiceHere;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'time-logs-folder-'));
    await chmod(folder, 0o755);
    await chown(folder, USER, GROUP);
    dataDir = join(folder, 'project', '.data');
    service = await startHere({ DATA_DIR: dataDir });
  });
  afterAll(async () => {
    await service.end();
    await rm(folder, { recursive: true });
  });

  const factsOf = async (file: string) => {
    const { uid, gid, mode } = await stat(file);
    return { uid, gid, mode: (mode & 0o777).toString(8) };
  };
  const backup = async (file: string) =>
    expect(await runHere('backup', [file], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });

  it('leaves the user all that it makes there', async () => {
    const user = { uid: USER, gid: GROUP };
    expect(await factsOf(join(folder, 'project'))).toMatchObject(user);
    expect(await factsOf(dataDir)).toMatchObject(user);
    expect(await factsOf(join(dataDir, 'access-token'))).toEqual({ ...user, mode: '600' });
    const { mode, ...owner } = await factsOf(join(dataDir, 'postgres'));
    expect(mode).toBe('700');
    expect(await factsOf(join(dataDir, 'postgres', 'PG_VERSION'))).toEqual({ ...owner, mode: '600' });
    // A user who cannot run PostgreSQL has no use for its files.
    if (canUserRunPostgres()) expect(owner).toEqual(user);
    else expect(isOrdinary(owner)).toBe(false);
  });

  it('leaves the user the backups that it saves there, and keeps others', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'time-logs-elsewhere-'));
    await backup(join(folder, 'backup'));
    await backup(join(elsewhere, 'backup'));
    expect(await factsOf(join(folder, 'backup'))).toEqual({ uid: USER, gid: GROUP, mode: '600' });
    expect((await factsOf(join(elsewhere, 'backup'))).uid).toBe(0);
    await rm(elsewhere, { recursive: true });
  });

  it('leaves the user the file of a token that it rotates', async () => {
    const token = join(dataDir, 'access-token');
    const before = await readFile(token, 'utf8');
    const { stdout } = await runHere('token', ['list'], { DATA_DIR: dataDir });
    const [id = ''] = /^[-0-9a-f]{36}(?= )/m.exec(stdout) ?? [];
    expect(await runHere('token', ['rotate', id], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
    expect(await readFile(token, 'utf8')).not.toBe(before);
    expect(await factsOf(token)).toEqual({ uid: USER, gid: GROUP, mode: '600' });
  });

  it('gives the user a first token that root had kept', async () => {
    const token = join(dataDir, 'access-token');
    await chown(token, 0, 0);
    await service.end();
    service = await startHere({ DATA_DIR: dataDir });
    expect(await factsOf(token)).toEqual({ uid: USER, gid: GROUP, mode: '600' });
  });
});
