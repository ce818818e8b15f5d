import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, constants, cp, mkdtemp, readFile, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/**
 * Nothing is tested here that a crash of the machine could harm; every core may run tests. The service refuses `fsync`
 * that is off, which costs nothing in memory.
 */
const SETTINGS = {
  full_page_writes: 'off',
  max_connections: '500',
  max_prepared_transactions: '10',
};
/**
 * A folder in memory. A database is copied there in 10 ms instead of 250 ms: that is a sixth of the time of all tests.
 */
const MEMORY = '/dev/shm';
/** Bytes that must be free in it. All tests together have had 0.6 GB there. */
const MIN_FREE_BYTES = 2 ** 31;
/** The options of initdb of any version. */
const INITDB = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
/** Also the role that owns what is in it. */
const TEMPLATE = 'test_template';
const PROJECT = join(import.meta.dirname, '..', '..');
const compiled = (path) => import(join(PROJECT, path));

/**
 * Compiles the service if its sources have changed, and starts a PostgreSQL server for each worker, on which every test
 * file makes its own databases: the embedded PostgreSQL, or the programs in the directory TEST_POSTGRES, such as
 * /usr/lib/postgresql/15/bin. No file waits for a lock or a transaction of another one.
 */
export default async function setUp({ maxWorkers }, { globals }, prepare = makeTemplate) {
  const { status } = spawnSync(process.execPath, [join(PROJECT, 'libs', 'build', 'run.mjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the service does not compile');
  const { removeLibpqVariables } = await compiled('dist/src/process/config.js');
  // The tests' own connections follow their URLs alone, as the service does.
  removeLibpqVariables(process.env);
  const parent = globals.databasesInMemory && (await hasRoomInMemory()) ? MEMORY : tmpdir();
  const directory = await realpath(await mkdtemp(join(parent, 'time-logs-test-')));
  // Servers run under accounts of their own, and have folders of their own in it.
  await chmod(directory, 0o711);
  // All that tests write goes where the end of the run removes it.
  process.env.TMPDIR = directory;
  globalThis.testRun = startCleaner(directory);
  // Node 22.1 and later compile what the processes of a run load once. With coverage that would count too little.
  if (!process.env.NODE_V8_COVERAGE) process.env.NODE_COMPILE_CACHE ??= join(directory, 'compiled');
  process.env.TEST_DATABASE_URLS = (await startServers(directory, maxWorkers, prepare)).join(' ');
}

/** A process that outlives this one and cleans up after it, however it ends. */
function startCleaner(directory) {
  const cleaner = spawn(process.execPath, [join(import.meta.dirname, 'clean-up.mjs'), directory], {
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  cleaner.unref();
  return {
    cleanUp: async () => {
      cleaner.ref();
      cleaner.stdin.end();
      await once(cleaner, 'exit');
    },
  };
}

async function hasRoomInMemory() {
  try {
    await access(MEMORY, constants.W_OK);
    const { bavail, bsize } = await statfs(MEMORY);
    // Some tests run what they write.
    const isForPrograms = !/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(await readFile('/proc/mounts', 'utf8'));
    return isForPrograms && bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/** Starts a server for each worker, all with copies of one set of files. Resolves with their URLs. */
async function startServers(directory, count, prepare) {
  const { install } = await compiled('libs/embedded-postgres/dist/installation.js');
  const { urlOf } = await compiled('libs/embedded-postgres/dist/socket.js');
  const { giveTo } = await compiled('libs/embedded-postgres/dist/data-directory.js');
  const { TEST_POSTGRES } = process.env;
  const places = Array.from({ length: count }, (_, index) => join(directory, `postgres-${index + 1}`));
  const other = TEST_POSTGRES && {
    native: TEST_POSTGRES,
    initdb: join(TEST_POSTGRES, 'initdb'),
    postgres: join(TEST_POSTGRES, 'postgres'),
  };
  const installation = await install(places[0], ...(other ? [other, INITDB] : []));
  const server = await start(installation);
  await prepare(urlOf(places[0]));
  server.signal('SIGINT');
  await server.ended;
  for (const place of places.slice(1)) {
    await cp(places[0], place, { recursive: true });
    await giveTo(place, installation.account.user);
  }
  await Promise.all(places.map((dataDirectory) => start({ ...installation, dataDirectory })));
  return places.map(urlOf);
}

/** Makes the database with all migrations that test-database.ts copies. */
async function makeTemplate(serverUrl) {
  const { migrations } = await compiled('dist/src/app.module.js');
  const { migrate } = await compiled('dist/src/database/setup/index.js');
  const url = serverUrl
    .replace(/\/postgres(?=\?|$)/, `/${TEMPLATE}`)
    .replace('//postgres@', `//${TEMPLATE}@`);
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create role ${TEMPLATE} login`);
  await client.query(`create database ${TEMPLATE} owner ${TEMPLATE}`);
  await migrate({ url, migrations });
  // A test that gets what this role owns in a copy would get the template too.
  await client.query(`alter database ${TEMPLATE} owner to postgres`);
  await client.end();
}

async function start(installation) {
  const { launch } = await compiled('libs/embedded-postgres/dist/server.js');
  const server = await launch(installation, SETTINGS);
  if (!server.running) throw new Error(`PostgreSQL did not start: ${server.reason}`);
  return server;
}
