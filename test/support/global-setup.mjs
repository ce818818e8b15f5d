import { access, constants, mkdir, mkdtemp, readFile, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { giveTo } from '../../libs/embedded-postgres/dist/data-directory.js';
import { install, thisMachine } from '../../libs/embedded-postgres/dist/installation.js';
import { isReady } from '../../libs/embedded-postgres/dist/postmaster.js';
import { Program, run } from '../../libs/embedded-postgres/dist/program.js';
import {
  openSocketDirectory,
  socketDirectoryOf,
  urlOf,
} from '../../libs/embedded-postgres/dist/socket-directory.js';
import { removeLibpqVariables } from '../../dist/src/config.js';

/**
 * Nothing is tested here that a crash of the machine could harm, so nobody waits for the disk; every core may run
 * tests.
 */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  max_prepared_transactions: '10',
  listen_addresses: '',
};
/**
 * A folder in memory. A database is copied there in 10 ms instead of 250 ms: that is a sixth of the time of all tests.
 */
const MEMORY = '/dev/shm';
/** Bytes that must be free in it. All tests together have had 0.6 GB there. */
const ROOM = 2 ** 31;
/** How initdb of any version makes the files. */
const INITDB = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];

/**
 * A real PostgreSQL for each worker, in which every test file makes databases of its own: the embedded one, or that of
 * TEST_POSTGRES, the directory of another version's programs, such as /usr/lib/postgresql/15/bin. No file waits for a
 * lock or a transaction of another one.
 */
export default async function setUp({ maxWorkers }, { globals }) {
  // The tests' own connections follow their URLs alone, as the service does.
  removeLibpqVariables(process.env);
  if (globals.databasesInMemory && (await hasRoomInMemory())) process.env.TMPDIR = MEMORY;
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'time-logs-test-')));
  const places = Array.from({ length: maxWorkers }, (_, index) => join(directory, `postgres-${index + 1}`));
  globalThis.testDatabases = { servers: await Promise.all(places.map(startIn)), directory };
  // Node 22.1 and later compile what the processes of a run load once. With coverage that would count too little.
  if (!process.env.NODE_V8_COVERAGE) process.env.NODE_COMPILE_CACHE ??= join(directory, 'compiled');
  process.env.TEST_DATABASE_URLS = places.map((place) => urlOf(socketDirectoryOf(place))).join(' ');
}

async function hasRoomInMemory() {
  try {
    await access(MEMORY, constants.W_OK);
    const { bavail, bsize } = await statfs(MEMORY);
    // Some tests run what they write.
    const isForPrograms = !/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(await readFile('/proc/mounts', 'utf8'));
    return isForPrograms && bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}

async function startIn(dataDirectory) {
  const { TEST_POSTGRES } = process.env;
  return start(
    TEST_POSTGRES
      ? await installOther(TEST_POSTGRES, dataDirectory)
      : await install(dataDirectory, thisMachine),
  );
}

/** Makes the files of a server that is not the embedded one, under the first account that can. */
async function installOther(programs, dataDirectory) {
  const binaries = {
    native: programs,
    initdb: join(programs, 'initdb'),
    postgres: join(programs, 'postgres'),
  };
  const failures = [];
  for (const account of thisMachine.accounts({ hasData: false })) {
    await mkdir(dataDirectory);
    await giveTo(dataDirectory, account.owner('initdb'));
    const initdb = account.invoke(binaries.initdb, [`--pgdata=${dataDirectory}`, ...INITDB], 'initdb');
    const { ok, reason } = await run(initdb, {});
    if (ok) {
      await giveTo(dataDirectory, account.owner('postgres'));
      return { dataDirectory, binaries, environment: {}, account };
    }
    failures.push(`${account.name}: ${reason}`);
    await rm(dataDirectory, { recursive: true });
  }
  throw new Error(`PostgreSQL in ${programs} does not run here: ${failures.join('; ')}`);
}

async function start({ dataDirectory, binaries, environment, account }) {
  const socketDirectory = socketDirectoryOf(dataDirectory);
  await openSocketDirectory(socketDirectory, dataDirectory, account.owner('postgres'));
  const settings = { ...SETTINGS, unix_socket_directories: `"${socketDirectory}"` };
  const values = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const invocation = account.invoke(binaries.postgres, ['-D', dataDirectory, ...values], 'postgres');
  const server = Program.start(invocation, environment);
  while (!(await isReady(dataDirectory, server.pid))) {
    if (!server.running) throw new Error(`PostgreSQL did not start: ${server.reason}`);
    await delay(20);
  }
  return server;
}
