import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { otherUser, otherUserWithCapability, sameUser, userNamespace, type Account } from './account.js';
import { findBinaries, type Binaries } from './binaries.js';
import { EmbeddedPostgres } from './embedded-postgres.js';
import { thisMachine } from './installation.js';

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? describe : describe.skip;
const asOrdinaryUser = isRoot ? describe.skip : describe;
const namespaces = spawnSync('unshare', ['--user', '--map-user=65534', 'true']).status === 0;
const whereNamespaces = isRoot && namespaces ? it : it.skip;

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

async function start(
  accounts = thisMachine.accounts(),
  binaries = binariesIn(native),
): Promise<EmbeddedPostgres> {
  const machine = { binaries: () => binaries, accounts: () => accounts };
  const postgres = await EmbeddedPostgres.start({ dataDirectory }, machine);
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

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.map((row: unknown[]) => row[0]);
  } finally {
    await client.end();
  }
}

/** What a process of another user meets when it connects to the server's socket. */
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
    const { url } = await start(undefined, await installHere());
    expect(await query(url, 'select 1')).toEqual([1]);
  });
});

asOrdinaryUser('PostgreSQL under an ordinary user', () => {
  it('runs when the project is somebody else’s and lacks the links of its libraries', async () => {
    const binaries = await installHere();
    spawnSync('chmod', ['-R', 'a-w', binaries.native]);
    const { url } = await start(undefined, binaries);
    expect(await query(url, 'select 1')).toEqual([1]);
    expect(await readdir(join(place, 'data', 'postgres.lib'))).toContain('libpq.so.5');
  });

  it('refuses a data directory of another user', async () => {
    await expect(EmbeddedPostgres.start({ dataDirectory: '/usr' })).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message:
        'the data directory /usr belongs to another user (number 0): start the service as that user, or set DATA_DIR to another directory',
    });
  });

  (namespaces ? it : it.skip)('runs for a user without a name, where there are user namespaces', async () => {
    const { url } = await start([userNamespace]);
    expect(await query(url, 'select 1')).toEqual([1]);
  });
});

asRoot('PostgreSQL under root', () => {
  it('runs in the closed home of another user', async () => {
    const binaries = await installHere();
    await chown(place, 12345, 12345);
    const { url } = await start(undefined, binaries);
    expect(await query(url, 'select 1')).toEqual([1]);
  });

  whereNamespaces('leaves the files with root, where there are user namespaces', async () => {
    await start();
    expect((await stat(dataDirectory)).uid).toBe(0);
  });

  it('runs as a user whom nobody else is, where there are no user namespaces', async () => {
    await chmod(place, 0o755);
    await start([otherUser, otherUserWithCapability]);
    expect((await stat(dataDirectory)).uid).toBe(61000);
  });

  it('runs in a closed home without user namespaces', async () => {
    const binaries = await installHere();
    const { url } = await start([otherUser, otherUserWithCapability], binaries);
    expect(await query(url, 'select 1')).toEqual([1]);
  });

  it('keeps the data when another account is the first that works', async () => {
    await chmod(place, 0o755);
    const accounts = [...(namespaces ? [userNamespace] : []), otherUser, otherUserWithCapability];
    for (const account of [...accounts, ...accounts]) {
      const postgres = await start([account]);
      if (postgres.created) await query(postgres.url, 'create table kept as select 42 as answer');
      expect(await query(postgres.url, 'select answer from kept')).toEqual([42]);
      await postgres.stop();
    }
  });

  it.each([...(namespaces ? [userNamespace] : []), otherUser, otherUserWithCapability])(
    'lets no other user reach the server: $name',
    async (account: Account) => {
      await chmod(place, 0o755);
      await start([account]);
      expect(await Promise.all([connectAs(65534), connectAs(1000)])).toEqual(['EACCES', 'EACCES']);
    },
  );

  it('tells in one line that no account will do', async () => {
    const binaries = await installHere();
    await expect(start([otherUser], binaries)).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(
        /^the embedded PostgreSQL does not run here \([^\n]+\): start the service as an ordinary user, or set DATABASE_URL to a PostgreSQL server$/,
      ),
    });
  });

  it('tells in one line that PostgreSQL itself refuses root', async () => {
    await mkdir(join(place, 'data'));
    await expect(start([sameUser])).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(/^[^\n]*cannot be run as root[^\n]*$/),
    });
  });
});
