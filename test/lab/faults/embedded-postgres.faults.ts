import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from '../../../libs/embedded-postgres/src/index.js';
import { firstColumn as query } from '../../support/postgres-cluster.js';
import { endProcess } from '../../support/service-process.js';
import { expectRefused } from './support/embedded.js';
import { canMount, SmallDisk } from './support/full-disk.js';

const COMMIT = 'create table committed as select 42 as answer';
const COMMITTED = 'select answer from committed';

let place: string;
let dataDirectory: string;
let started: EmbeddedPostgres[];
let services: ChildProcess[];
let orphans: number[];

beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  dataDirectory = join(place, 'postgres');
  started = [];
  services = [];
  orphans = [];
});

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  await Promise.all(services.map((service) => endProcess(service)));
  // Should the spec have failed half way.
  for (const pid of orphans) spawnSync('kill', ['-s', 'QUIT', String(pid)]);
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory, ...options });
  started.push(postgres);
  return postgres;
}

/** Starts a service in a process of its own and gives the first line that it prints. */
async function startService(): Promise<{ service: ChildProcess; line: string }> {
  const fixture = join(import.meta.dirname, 'support', 'embedded-postgres.fixture.mjs');
  const service = spawn(process.execPath, [fixture, dataDirectory], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  services.push(service);
  const [line] = (await once(createInterface({ input: service.stdout }), 'line')) as [string];
  return { service, line };
}

async function postmasterPid(directory = dataDirectory): Promise<number> {
  return Number((await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Starts a service and kills it; the URL of its server, which is an orphan then, and the number of that. */
async function leaveOrphan(meanwhile: (url: string) => Promise<unknown> = () => Promise.resolve()) {
  const { service, line: url } = await startService();
  await meanwhile(url);
  const orphan = await postmasterPid();
  orphans.push(orphan);
  await endProcess(service, 'SIGKILL');
  return { url, orphan };
}

describe('EmbeddedPostgres after the service was killed', () => {
  it('ends the orphaned server, and serves all that was committed', async () => {
    const { orphan } = await leaveOrphan((url) => query(url, COMMIT));
    expect(process.kill(orphan, 0)).toBe(true);
    const next = await start();
    expect(await query(next.url, COMMITTED)).toEqual([42]);
    expect(await postmasterPid()).not.toBe(orphan);
  });

  it('ends it for a command, too', async () => {
    const { orphan } = await leaveOrphan((url) => query(url, COMMIT));
    const command = await EmbeddedPostgres.attachOrStart({ dataDirectory });
    started.push(command);
    expect(await query(command.url, COMMITTED)).toEqual([42]);
    expect(await postmasterPid()).not.toBe(orphan);
  });
});

describe('EmbeddedPostgres next to another service', () => {
  it('keeps the server through a Ctrl-C, which the service answers in its own time', async () => {
    const { service, line: url } = await startService();
    process.kill(-service.pid!, 'SIGINT');
    await expect(Promise.race([once(service, 'exit'), delay(300, 'alive')])).resolves.toBe('alive');
    expect(await query(url, 'select 1')).toEqual([1]);
  });
});

describe('EmbeddedPostgres after a crash of the machine', () => {
  it.each([
    ['another process', () => Promise.resolve(process.pid)],
    [
      'another server',
      async () => {
        await start({ dataDirectory: join(place, 'other') });
        return postmasterPid(join(place, 'other'));
      },
    ],
    ['nobody', () => Promise.resolve(4_194_305)],
  ])('starts although the lock file names the number of %s', async (_, number) => {
    await (await start()).stop();
    const lines = [await number(), dataDirectory, 1, 5432, dataDirectory, '', '  1 1', 'ready   ', ''];
    await writeFile(join(dataDirectory, 'postmaster.pid'), lines.join('\n'));
    const { url } = await start();
    expect(await query(url, 'select 1')).toEqual([1]);
  });

  it('replaces the half-made files of a start that was killed', async () => {
    await mkdir(join(place, 'postgres.new', 'base'), { recursive: true });
    await start();
    expect((await readdir(place)).toSorted()).toEqual(['postgres', 'postgres.lock']);
  });
});

(canMount ? describe : describe.skip)('EmbeddedPostgres on a full disk (where a disk can be mounted)', () => {
  let disk: SmallDisk;
  const mount = (size: string) => (disk = SmallDisk.mount(place, size, undefined, '755'));

  afterEach(async () => {
    await Promise.all(started.map((postgres) => postgres.stop()));
    disk.unmount();
  });

  it('reports a disk without space for a new database, and leaves nothing behind', async () => {
    mount('8m');
    await expectRefused(start(), /^[^\n]*No space left on device[^\n]*set DATA_DIR to another directory$/);
    expect(await readdir(place)).toEqual([]);
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
