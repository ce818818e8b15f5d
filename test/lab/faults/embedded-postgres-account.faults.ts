import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, readFile, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { findBinaries, type Binaries } from '../../../libs/embedded-postgres/src/binaries.js';
import { openDirectory } from '../../../libs/embedded-postgres/src/data-directory.js';
import { EmbeddedPostgres, EmbeddedPostgresError } from '../../../libs/embedded-postgres/src/index.js';
import { eventually } from '../eventually.js';
import { endProcess } from '../../support/service-process.js';
import { firstColumn as query } from '../../support/postgres-cluster.js';
import { expectRefused } from './support/embedded.js';

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? describe : describe.skip;

/** The project's binaries where every user can reach them, as under /root nobody else can. */
let native: string;
let place: string;
let dataDirectory: string;
let started: EmbeddedPostgres[];

beforeAll(async () => {
  native = join(await realpath(await mkdtemp(join(tmpdir(), 'embedded-binaries-'))), 'native');
  await chmod(dirname(native), 0o755);
  await copyBinaries(native);
});
afterAll(() => rm(dirname(native), { recursive: true, force: true }));

beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  dataDirectory = join(place, 'data', 'postgres');
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  spawnSync('chmod', ['-R', 'u+w', place]);
  await rm(place, { recursive: true, force: true });
});

/** A server that was started answers. */
const expectAnswers = async (starting: Promise<EmbeddedPostgres>) =>
  expect(await query((await starting).url, 'select 1')).toEqual([1]);

async function start(binaries = binariesIn(native)): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory }, binaries);
  started.push(postgres);
  return postgres;
}

/** Copies the binaries, without the links that the install script makes. */
function copyBinaries(to: string): Promise<void> {
  const filter = (path: string) => !lstatSync(path).isSymbolicLink() && !path.endsWith('.a');
  return cp(findBinaries().native, to, { recursive: true, filter });
}

function binariesIn(native: string): Binaries {
  return { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** The project in the same place as the data. */
async function installHere(): Promise<Binaries> {
  const own = join(place, 'project', 'native');
  await copyBinaries(own);
  return binariesIn(own);
}

/** Returns the outcome of a connection of another user's process to the server's socket. */
async function connectAs(uid: number): Promise<string> {
  // Node may lie where only root can enter, so it becomes the other user after its start.
  const script = `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid});
    require('node:net').connect(process.argv[1])
    .on('connect', () => { console.log('connected'); process.exit(); })
    .on('error', ({ code }) => console.log(code))`;
  const socket = join(dataDirectory, '.s.PGSQL.5432');
  const child = spawn(process.execPath, ['-e', script, socket], { cwd: '/' });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  return output.toString().trim();
}

describe('PostgreSQL in a home that only its owner can enter', () => {
  it('runs with the project and the data in it', async () => {
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    await expectAnswers(start(await installHere()));
  });
});

/** Users of every Linux distribution and of none, for whom initdb must find a name. */
const ordinaryUsers = [
  ['with a name', 1],
  ['without a name', 12345],
] as const;

asRoot.each(ordinaryUsers)('PostgreSQL under root in the folder of a user %s', (_kind, uid) => {
  beforeEach(() => chown(place, uid, uid));
  afterEach(() => chmod(dirname(native), 0o755));

  const owners = async (directory: string) => {
    const paths = await readdir(directory, { recursive: true });
    const found = await Promise.all(['.', ...paths].map((path) => stat(join(directory, path))));
    return new Set(found.map((each) => `${each.uid}:${each.gid}`));
  };

  it('leaves all files with the user, who can go on alone', async () => {
    const { url } = await start();
    await query(url, 'create table kept as select 42 as answer');
    await started.pop()!.stop();
    expect(await owners(join(place, 'data'))).toEqual(new Set([`${uid}:${uid}`]));
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);

    const args = ['-D', dataDirectory, '-k', dataDirectory, '-c', 'listen_addresses='];
    const server = spawn(binariesIn(native).postgres, args, { uid, gid: uid, stdio: 'ignore' });
    await eventually(async () => expect(await query(url, 'select answer from kept')).toEqual([42]));
    await endProcess(server);
  });

  it('runs in a home that only the user can enter, with no right that the user does not have', async () => {
    await expectAnswers(start(await installHere()));
    const [pid] = (await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n');
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'));
    expect(status).toMatch(/^CapPrm:\s+0+$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
  });

  it('never takes data away from the user', async () => {
    await start();
    await started.pop()!.stop();
    await chmod(dirname(native), 0o700);
    await expectRefused(start(), /^the embedded PostgreSQL does not run here [^\n]*$/);
    expect(await owners(join(place, 'data'))).toEqual(new Set([`${uid}:${uid}`]));
  });
});

asRoot('a data directory of another user', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is refused', async () => {
    jest.spyOn(process, 'getuid').mockReturnValue(1234);
    await expect(openDirectory(place)).rejects.toThrow(
      new EmbeddedPostgresError(
        `the data directory ${place} belongs to another user (number 0): start the service as that user, set DATA_DIR to another directory, or, if the data are yours, run sudo chown -R USER: ${place}`,
      ),
    );
  });
});

asRoot('PostgreSQL under root', () => {
  it('keeps the data when it needs more rights, or fewer, and those that 0.3 has left with root', async () => {
    for (const [mode, owner] of [
      [0o755, undefined],
      [0o700, undefined],
      [0o755, 0],
      [0o700, 0],
    ] as const) {
      await chmod(place, mode);
      if (owner !== undefined) spawnSync('chown', ['-R', '0:0', dataDirectory]);
      const postgres = await start();
      if (postgres.created) await query(postgres.url, 'create table kept as select 42 as answer');
      expect(await query(postgres.url, 'select answer from kept')).toEqual([42]);
      await postgres.stop();
    }
  });

  it.each([0o755, 0o700])('lets no other user reach the server, in a folder of mode %o', async (mode) => {
    await chmod(place, mode);
    await start();
    expect(await Promise.all([connectAs(65534), connectAs(1000)])).toEqual(['EACCES', 'EACCES']);
  });
});
