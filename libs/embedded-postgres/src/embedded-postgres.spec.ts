import { rmSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { EmbeddedPostgres, EmbeddedPostgresError } from './index.js';

/** The files of a server that has run and ended. */
let made: string;
let place: string;
let dataDirectory: string;
let started: EmbeddedPostgres[];

beforeAll(async () => {
  made = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await (await EmbeddedPostgres.start({ dataDirectory: join(made, 'postgres') })).stop();
});
afterAll(() => rm(made, { recursive: true }));

beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  dataDirectory = join(place, 'postgres');
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  await rm(place, { recursive: true, force: true });
});

async function start(directory = dataDirectory): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory: directory });
  started.push(postgres);
  return postgres;
}

/** Takes the files of a server that has run and ended. */
async function takeMade(): Promise<void> {
  await cp(join(made, 'postgres'), dataDirectory, { recursive: true });
}

async function attach(): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.attachOrStart({ dataDirectory });
  started.push(postgres);
  return postgres;
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

/** Runs two starts at once and gives the server of the one, and the error of the other. */
async function race(): Promise<{ winner: EmbeddedPostgres; loser: unknown }> {
  const results = await Promise.allSettled([start(), start()]);
  const [winner] = started;
  const loser = results.find((result) => result.status === 'rejected');
  if (!winner || !loser)
    throw new Error(`expected one winner and one loser, found ${JSON.stringify(results)}`);
  return { winner, loser: loser.reason };
}

describe('EmbeddedPostgres', () => {
  it('keeps its data from one start to the next', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await start();
    expect(await query(second.url, 'select answer from kept')).toEqual([42]);
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.url).toBe(first.url);
  });

  it('closes a data directory that stands open', async () => {
    await takeMade();
    await chmod(dataDirectory, 0o755);
    await start();
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  });

  it('puts the socket of a long path into a private directory', async () => {
    const { url } = await start(join(place, 'long'.repeat(30), 'postgres'));
    const socketDirectory = decodeURIComponent(new URL(url).hostname);
    expect(await query(url, 'select 1')).toEqual([1]);
    expect((await stat(socketDirectory)).mode & 0o777).toBe(0o700);
    await rm(socketDirectory, { recursive: true });
  });

  it('serves two directories at once', async () => {
    const [one, two] = await Promise.all([start(), start(join(place, 'other', 'postgres'))]);
    await query(one.url, 'create table only_in_one ()');
    expect(await query(two.url, `select to_regclass('only_in_one')`)).toEqual([null]);
  });

  it('lets one of two starts at the same moment win, on a new directory and on an old one', async () => {
    const fresh = await race();
    expect(fresh.loser).toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringContaining('in use by'),
    });
    await fresh.winner.stop();
    started = [];
    const old = await race();
    expect(old.loser).toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringContaining('in use by'),
    });
    expect(await query(old.winner.url, 'select 1')).toEqual([1]);
    expect(await readdir(place)).toEqual(['postgres']);
  });

  it('starts where the lock file of another start is empty for a moment, and says what to do where it stays so', async () => {
    await takeMade();
    const lock = join(dataDirectory, 'postmaster.pid');
    await writeFile(lock, '');
    // As soon as a server has met it.
    const log = (line: string) => {
      if (line.includes('is empty')) rmSync(lock, { force: true });
    };
    const postgres = await EmbeddedPostgres.start({ dataDirectory, log });
    started.push(postgres);
    expect(await query(postgres.url, 'select 1')).toEqual([1]);
    await postgres.stop();
    await writeFile(lock, '');
    await expect(start()).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(/is empty\): remove this file if no server uses this directory$/),
    });
  });

  it('starts a server for a command where none runs, and has a service wait for its end', async () => {
    const command = await attach();
    expect(command.created).toBe(true);
    const starting = start();
    await query(command.url, 'create table made_by_command ()');
    await command.stop();
    const service = await starting;
    expect(await query(service.url, `select to_regclass('made_by_command') is null`)).toEqual([false]);
  });

  it('gives two commands at the same moment one server', async () => {
    const [one, two] = await Promise.all([attach(), attach()]);
    expect(await query(one.url, 'select pg_postmaster_start_time()')).toEqual(
      await query(two.url, 'select pg_postmaster_start_time()'),
    );
  });

  it('stops once, however often it is told to', async () => {
    await takeMade();
    const postgres = await start();
    await Promise.all([postgres.stop(), postgres.stop()]);
    await expect(query(postgres.url, 'select 1')).rejects.toThrow('ENOENT');
    expect(await readdir(dataDirectory)).not.toContain('postmaster.pid');
  });

  it('gives up a start and leaves nothing behind', async () => {
    const gaveUp = new Error('gave up');
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(gaveUp), 300);
    const starting = EmbeddedPostgres.start({ dataDirectory, signal: controller.signal }).then((postgres) => {
      started.push(postgres);
    });
    await starting.catch((error: unknown) => expect(error).toBe(gaveUp));
    clearTimeout(timer);
    expect((await readdir(place)).filter((name) => name.includes('.new-'))).toEqual([]);
    if (started.length === 0) await start();
  });

  it('refuses the files of another major version, and leaves them as they are', async () => {
    await takeMade();
    await writeFile(join(dataDirectory, 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(
      new EmbeddedPostgresError(
        `the files in ${dataDirectory} were made by PostgreSQL 17, and this is PostgreSQL 18: set DATA_DIR to another directory and restore a backup there, or set DATABASE_URL to a server of version 17`,
      ),
    );
    expect(await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).toBe('17\n');
  });

  it('refuses a directory with other files, and leaves them as they are', async () => {
    await mkdir(dataDirectory);
    await writeFile(join(dataDirectory, 'diary.txt'), 'mine');
    await expect(start()).rejects.toThrow(
      new EmbeddedPostgresError(
        `${dataDirectory} is neither empty nor the data of a PostgreSQL server: set DATA_DIR to another directory`,
      ),
    );
    expect(await readdir(dataDirectory)).toEqual(['diary.txt']);
  });

  it('refuses a place where there is a file', async () => {
    await writeFile(dataDirectory, '');
    const message = expect.stringMatching(
      /^the data directory .* cannot be .*: .* set DATA_DIR to .* directory/,
    );
    await expect(start()).rejects.toMatchObject({ name: 'EmbeddedPostgresError', message });
    await expect(start(join(dataDirectory, 'below'))).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message,
    });
  });

  it('tells in one line why damaged files do not start', async () => {
    await takeMade();
    await rm(join(dataDirectory, 'global', 'pg_control'));
    await expect(start()).rejects.toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(/^PostgreSQL did not start in \S+ \([^\n]*pg_control[^\n]*$/),
    });
  });
});

describe('a running EmbeddedPostgres', () => {
  let home: string;
  let directory: string;
  let server: EmbeddedPostgres;

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
    directory = join(home, `it's 100%, "ünïcode": a@b`, 'postgres');
    await mkdir(directory, { recursive: true });
    server = await EmbeddedPostgres.start({ dataDirectory: directory });
  });

  afterAll(async () => {
    await server.stop();
    await rm(home, { recursive: true });
  });

  it('gives a URL that TypeORM understands, whatever characters the path has', async () => {
    const dataSource = await new DataSource({ type: 'postgres', url: server.url }).initialize();
    expect(await dataSource.query('select lower($1) as lower', ['Ä'])).toEqual([{ lower: 'ä' }]);
    await dataSource.destroy();
  });

  it('writes through to the disk before it answers, and checks what it reads', async () => {
    const settings = `('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums')`;
    expect(await query(server.url, `select setting from pg_settings where name in ${settings}`)).toEqual(
      Array(4).fill('on'),
    );
  });

  it('listens on a socket that only its owner can reach, and on no port', async () => {
    expect(await query(server.url, 'show listen_addresses')).toEqual(['']);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, '.s.PGSQL.5432'))).mode & 0o777).toBe(0o700);
  });

  it('refuses a directory that a running service uses', async () => {
    await expect(EmbeddedPostgres.start({ dataDirectory: directory })).rejects.toThrow(
      new EmbeddedPostgresError(
        `the data directory ${directory} is in use by another running service (process ${process.pid}): stop it, or set DATA_DIR to another directory`,
      ),
    );
    expect(await query(server.url, 'select 1')).toEqual([1]);
  });

  it('attaches a command to the running server, and leaves it running', async () => {
    const command = await EmbeddedPostgres.attachOrStart({ dataDirectory: directory });
    expect(command.url).toBe(server.url);
    await command.stop();
    expect(await query(server.url, 'select 1')).toEqual([1]);
  });
});
