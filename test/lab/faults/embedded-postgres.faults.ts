import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Binaries, findBinaries } from '../../../libs/embedded-postgres/src/binaries.js';
import { openDirectory } from '../../../libs/embedded-postgres/src/data-directory.js';
import { EmbeddedPostgres } from '../../../libs/embedded-postgres/src/index.js';
import { eventually } from '../../support/eventually.js';
import { firstColumn as query } from '../../support/postgres-cluster.js';
import { endProcess } from '../../support/service-process.js';
import { canMount, mountSmallDisk } from './support/full-disk.js';

const COMMIT = 'create table committed as select 42 as answer';
const COMMITTED = 'select answer from committed';
/** A service in a process of its own: prints the URL of its server, and outlives a Ctrl-C. SIGTERM stops it. */
const SERVICE = `
  import { EmbeddedPostgres } from '${join(import.meta.dirname, '../../../libs/embedded-postgres/dist/index.js')}';
  process.on('SIGINT', () => {});
  const postgres = await EmbeddedPostgres.start({ dataDirectory: process.argv[1] });
  console.log(postgres.url);
  process.once('SIGTERM', () => void postgres.stop().then(() => process.exit()));`;

const asRoot = process.getuid?.() === 0 ? describe : describe.skip;

/** The project's binaries where every user can reach them, as under /root nobody else can. */
let native: string;
let place: string;
let dataDirectory: string;
let started: EmbeddedPostgres[];
let services: ChildProcess[];

beforeAll(async () => {
  native = join(await realpath(await mkdtemp(join(tmpdir(), 'embedded-binaries-'))), 'native');
  await chmod(dirname(native), 0o755);
  await copyBinaries(native);
});
afterAll(() => rm(dirname(native), { recursive: true, force: true }));

beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  dataDirectory = join(place, 'data', 'postgres');
  [started, services] = [[], []];
});

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  await Promise.all(services.map((service) => endProcess(service)));
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
});

async function start(binaries = binariesIn(native)): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory }, binaries);
  started.push(postgres);
  return postgres;
}

const expectRefused = (starting: Promise<unknown>, message: RegExp) =>
  expect(starting).rejects.toMatchObject({
    name: 'EmbeddedPostgresError',
    message: expect.stringMatching(message),
  });

/** Copies the binaries, without the links that the install script makes. */
function copyBinaries(to: string): Promise<void> {
  const filter = (path: string) => !lstatSync(path).isSymbolicLink() && !path.endsWith('.a');
  return cp(findBinaries().native, to, { recursive: true, filter });
}

function binariesIn(folder: string): Binaries {
  return { native: folder, initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

/** The project in the same place as the data. */
async function installHere(): Promise<Binaries> {
  const own = join(place, 'project', 'native');
  await copyBinaries(own);
  return binariesIn(own);
}

/** Starts a service in a process of its own, and resolves with the first line that it prints. */
async function startService(): Promise<{ service: ChildProcess; url: string }> {
  const args = ['--input-type=module', '--eval', SERVICE, dataDirectory];
  const service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  services.push(service);
  const [url] = (await once(createInterface({ input: service.stdout }), 'line')) as [string];
  return { service, url };
}

const postmasterPid = async () =>
  Number((await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')[0]);

it.each(['start', 'attachOrStart'] as const)(
  'EmbeddedPostgres ends the orphaned server of a killed service at the next %s, and serves all that was committed',
  async (method) => {
    const { service, url } = await startService();
    await query(url, COMMIT);
    const orphan = await postmasterPid();
    await endProcess(service, 'SIGKILL');
    expect(process.kill(orphan, 0)).toBe(true);
    const next = await EmbeddedPostgres[method]({ dataDirectory });
    started.push(next);
    expect(await query(next.url, COMMITTED)).toEqual([42]);
    expect(await postmasterPid()).not.toBe(orphan);
  },
);

it('EmbeddedPostgres replaces the half-made files of a start that was killed', async () => {
  await mkdir(`${dataDirectory}.new/base`, { recursive: true });
  await start();
  expect((await readdir(dirname(dataDirectory))).toSorted()).toEqual(['postgres', 'postgres.lock']);
});

it('EmbeddedPostgres keeps the server through a Ctrl-C, which the service answers in its own time', async () => {
  const { service, url } = await startService();
  process.kill(-service.pid!, 'SIGINT');
  await expect(Promise.race([once(service, 'exit'), delay(300, 'alive')])).resolves.toBe('alive');
  expect(await query(url, 'select 1')).toEqual([1]);
});

it.each([
  ['another process', process.pid],
  ['nobody', 4_194_305],
])(
  'EmbeddedPostgres starts after a crash of the machine although the lock file names the number of %s',
  async (_, number) => {
    await (await start()).stop();
    const lines = [number, dataDirectory, 1, 5432, dataDirectory, '', '  1 1', 'ready   ', ''];
    await writeFile(join(dataDirectory, 'postmaster.pid'), lines.join('\n'));
    expect(await query((await start()).url, 'select 1')).toEqual([1]);
  },
);

(canMount ? describe : describe.skip)('EmbeddedPostgres on a full disk (where a disk can be mounted)', () => {
  let disk: ReturnType<typeof mountSmallDisk>;
  const mount = (size: string) => (disk = mountSmallDisk(place, size, undefined, '755'));

  afterEach(async () => {
    await Promise.all(started.map((postgres) => postgres.stop()));
    disk.unmount();
  });

  it('reports a disk without space for a new database, and leaves nothing behind', async () => {
    mount('8m');
    await expectRefused(start(), /^[^\n]*No space left on device[^\n]*set DATA_DIR to another directory$/);
    expect(await readdir(dirname(dataDirectory))).toEqual([]);
  });

  it('reports a disk without space for a start, and starts with all data once there is', async () => {
    mount('100m');
    const first = await start();
    await query(first.url, COMMIT);
    await first.stop();
    await disk.fill();
    await expectRefused(start(), /^PostgreSQL did not start in [^\n]*No space left on device[^\n]*$/);
    await disk.relieve();
    expect(await query((await start()).url, COMMITTED)).toEqual([42]);
  });
});

it('PostgreSQL in a home that only its owner can enter runs with the project and the data in it', async () => {
  expect((await stat(place)).mode & 0o777).toBe(0o700);
  const { url } = await start(await installHere());
  expect(await query(url, 'select 1')).toEqual([1]);
});

/** Users of every Linux distribution and of none, for whom initdb must find a name. */
asRoot.each([
  ['with a name', 1],
  ['without a name', 12345],
])('PostgreSQL under root in the folder of a user %s', (_kind, uid) => {
  beforeEach(() => chown(place, uid, uid));
  afterEach(() => chmod(dirname(native), 0o755));

  it('leaves all files with the user, who can go on alone, and never takes them away', async () => {
    const first = await start();
    await query(first.url, COMMIT);
    await first.stop();
    const args = ['-D', dataDirectory, '-k', dataDirectory, '-c', 'listen_addresses='];
    const server = spawn(binariesIn(native).postgres, args, { uid, gid: uid, stdio: 'ignore' });
    await eventually(async () => expect(await query(first.url, COMMITTED)).toEqual([42]));
    await endProcess(server);

    await chmod(dirname(native), 0o700);
    await expectRefused(start(), /^the embedded PostgreSQL does not run here [^\n]*$/);
    const data = join(place, 'data');
    const paths = await readdir(data, { recursive: true });
    const found = await Promise.all(['.', ...paths].map((path) => stat(join(data, path))));
    expect(new Set(found.map((each) => `${each.uid}:${each.gid}`))).toEqual(new Set([`${uid}:${uid}`]));
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  });

  it('runs in a home that only the user can enter, with no right that the user does not have', async () => {
    const { url } = await start(await installHere());
    expect(await query(url, 'select 1')).toEqual([1]);
    const status = await readFile(`/proc/${await postmasterPid()}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'));
    expect(status).toMatch(/^CapPrm:\s+0+$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
  });
});

asRoot('PostgreSQL under root', () => {
  it('refuses a data directory of another user', async () => {
    const getuid = jest.spyOn(process, 'getuid').mockReturnValue(1234);
    const message = /^the data directory \S+ belongs to another user \(number 0\): /;
    await expectRefused(openDirectory(place), message).finally(() => getuid.mockRestore());
  });

  it('keeps the data when it needs more rights, or fewer, and those that 0.3 has left with root', async () => {
    for (const [round, mode] of [0o755, 0o700, 0o755, 0o700].entries()) {
      await chmod(place, mode);
      if (round >= 2) spawnSync('chown', ['-R', '0:0', dataDirectory]);
      const postgres = await start();
      if (postgres.created) await query(postgres.url, COMMIT);
      expect(await query(postgres.url, COMMITTED)).toEqual([42]);
      await postgres.stop();
    }
  });
});
