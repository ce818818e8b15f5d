import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { eventually } from '../../../test/support/eventually.js';
import { EmbeddedPostgres, EmbeddedPostgresError } from './index.js';

/** The folder with the data directory of a server that has run and stopped. */
let template: string;
let folder: string;
let dataDirectory: string;
let started: EmbeddedPostgres[];

beforeAll(async () => {
  template = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await (await EmbeddedPostgres.start({ dataDirectory: join(template, 'postgres') })).stop();
});
afterAll(() => rm(template, { recursive: true }));

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  dataDirectory = join(folder, 'postgres');
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function start(directory = dataDirectory): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory: directory });
  started.push(postgres);
  return postgres;
}

/** Copies the files of a server that has run and stopped. */
async function copyTemplate(directory = dataDirectory): Promise<void> {
  await cp(join(template, 'postgres'), directory, { recursive: true });
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

/** Runs two starts at once. Returns the server of one, and the error of the other. */
async function race(): Promise<{ winner: EmbeddedPostgres; loser: unknown }> {
  const results = await Promise.allSettled([start(), start()]);
  const [winner] = started;
  const loser = results.find((result) => result.status === 'rejected');
  if (!winner || !loser)
    throw new Error(`expected one winner and one loser, found ${JSON.stringify(results)}`);
  return { winner, loser: loser.reason };
}

const ENDED =
  /^the embedded PostgreSQL ended \(it was ended by SIGKILL\): start the service again, or set DATABASE_URL to another PostgreSQL server$/;

/** A socket on which no process listens. */
async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  await promisify(execFile)(process.execPath, ['-e', script, path]).catch(() => undefined);
  expect(existsSync(path)).toBe(true);
}

describe('EmbeddedPostgres', () => {
  it('refuses a path that is too long for a socket, by its bytes', async () => {
    const directory = join(folder, 'ü'.repeat(40), 'postgres');
    await expect(start(directory)).rejects.toThrow(
      new EmbeddedPostgresError(
        `the path ${directory} is too long for a socket: set DATA_DIR to a shorter one`,
      ),
    );
  });

  it('lets one of two concurrent starts win, in a new directory and in an old one', async () => {
    const inUse = {
      name: 'EmbeddedPostgresError',
      message: `the data directory ${dataDirectory} is in use by another running service (process ${process.pid}): stop it, or set DATA_DIR to another directory`,
    };
    const fresh = await race();
    expect(fresh.loser).toMatchObject(inUse);
    await fresh.winner.stop();
    started = [];
    const old = await race();
    expect(old.loser).toMatchObject(inUse);
    expect(await query(old.winner.url, 'select 1')).toEqual([1]);
    expect((await readdir(folder)).sort()).toEqual(['postgres', 'postgres.lock']);
  });

  it('starts although a killed server has left its lock files', async () => {
    await copyTemplate();
    await writeFile(join(dataDirectory, 'postmaster.pid'), '');
    await leaveStaleSocket(`${dataDirectory}.lock`);
    const postgres = await start();
    expect(await query(postgres.url, 'select 1')).toEqual([1]);
  });

  it('reports once that the server has ended, starts it no more, and leaves the directory to the next start', async () => {
    await copyTemplate();
    const failures: string[] = [];
    const onFailure = ({ message }: Error) => void failures.push(message);
    const first = await EmbeddedPostgres.start({ dataDirectory, onFailure });
    await query(first.url, 'create table kept as select 42 as answer');
    process.kill(
      Number.parseInt(await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8'), 10),
      'SIGKILL',
    );
    await eventually(() => expect(failures).toEqual([expect.stringMatching(ENDED)]));
    const next = await start();
    expect(await query(next.url, 'select answer from kept')).toEqual([42]);
    await Promise.all([first.stop(), next.stop()]);
    expect(failures).toHaveLength(1);
  });

  it('starts a server for a command if none runs, and lets a service wait for its end', async () => {
    const command = await attach();
    expect(command.created).toBe(true);
    const starting = start();
    await query(command.url, 'create table made_by_command ()');
    await command.stop();
    const service = await starting;
    expect(await query(service.url, `select to_regclass('made_by_command') is null`)).toEqual([false]);
  });

  it('waits for a process that releases the directory and does not say what it was', async () => {
    await copyTemplate();
    let asked = 0;
    const lock = createServer((socket) => {
      socket.destroy();
      if (++asked === 2) lock.close();
    }).listen(`${dataDirectory}.lock`);
    expect(await query((await start()).url, 'select 1')).toEqual([1]);
  });

  it('aborts a start and leaves no server, and no files that are not complete', async () => {
    const aborted = new Error('aborted');
    const controller = new AbortController();
    const starting = EmbeddedPostgres.start({ dataDirectory, signal: controller.signal });
    await eventually(() => expect(existsSync(`${dataDirectory}.new`)).toBe(true));
    controller.abort(aborted);
    await expect(starting).rejects.toBe(aborted);
    expect(await readdir(folder)).toEqual(['postgres']);
    expect(await query((await start()).url, 'select 1')).toEqual([1]);
  });

  it('refuses the files of another major version, and does not change them', async () => {
    await copyTemplate();
    await writeFile(join(dataDirectory, 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(
      new EmbeddedPostgresError(
        `the files in ${dataDirectory} were made by PostgreSQL 17, and this is PostgreSQL 18: set DATA_DIR to another directory and restore a backup there, or set DATABASE_URL to a server of version 17`,
      ),
    );
    expect(await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).toBe('17\n');
  });

  it('refuses a directory with other files, and does not change them', async () => {
    await mkdir(dataDirectory);
    await writeFile(join(dataDirectory, 'diary.txt'), 'mine');
    await expect(start()).rejects.toThrow(
      new EmbeddedPostgresError(
        `${dataDirectory} is neither empty nor the data of a PostgreSQL server: set DATA_DIR to another directory`,
      ),
    );
    expect(await readdir(dataDirectory)).toEqual(['diary.txt']);
  });

  it('says in one line why damaged files do not start', async () => {
    await copyTemplate();
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

  it('has a URL that TypeORM can parse, whatever characters the path has', async () => {
    const dataSource = await new DataSource({ type: 'postgres', url: server.url }).initialize();
    expect(await dataSource.query('select lower($1) as lower', ['Ä'])).toEqual([{ lower: 'ä' }]);
    await dataSource.destroy();
  });

  it('writes to the disk before it responds, and verifies checksums', async () => {
    const settings = `('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums')`;
    expect(await query(server.url, `select setting from pg_settings where name in ${settings}`)).toEqual(
      Array(4).fill('on'),
    );
  });

  it('listens on a socket that only its owner can access, and on no port', async () => {
    expect(await query(server.url, 'show listen_addresses')).toEqual(['']);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, '.s.PGSQL.5432'))).mode & 0o777).toBe(0o700);
  });

  it('attaches a command to the running server, and does not stop it', async () => {
    const command = await EmbeddedPostgres.attachOrStart({ dataDirectory: directory });
    expect(command.url).toBe(server.url);
    await command.stop();
    expect(await query(server.url, 'select 1')).toEqual([1]);
  });
});
