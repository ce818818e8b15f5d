import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrations } from '../../src/app.module.js';
import { checkBackup } from '../../src/backup/index.js';
import { openDatabaseForCommand } from '../../src/database-setup/index.js';
import { environment } from '../support/environment.js';
import { startService } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist', 'src', 'commands');

interface Outcome {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command; its process can be seen meanwhile. */
function run(command: string, args: string[], env: Record<string, string>, node: string[] = []) {
  const options = { env: environment(env) };
  const all = [...node, join(DIST, `${command}.command.js`), ...args];
  const child = execFile(process.execPath, all, options);
  const outcome = Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]).then(
    ([stdout, stderr, [code]]): Outcome => ({ code: code as number | null, stdout, stderr }),
  );
  return Object.assign(outcome, { child });
}

async function newToken(env: Record<string, string>): Promise<string> {
  const { stdout } = await run('token', ['create', '--name', 'Ada'], env);
  return stdout.trim().split('\n').at(-1) ?? '';
}

async function statusWith(token: string, url: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/v1/time-logs`, { headers })).status;
}

async function withSql<T>(url: string, act: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    poolErrorHandler: () => undefined,
  }).initialize();
  try {
    return await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** The same on the embedded database of a directory, whether the service runs or not. */
async function withSqlIn<T>(dataDir: string, act: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const none = { databaseUrl: undefined, migrationDatabaseUrl: undefined };
  const database = await openDatabaseForCommand({ ...none, dataDir, log: () => undefined });
  try {
    return await withSql(database.url, act);
  } finally {
    await database.close();
  }
}

/** Every row of every table but the list of migrations and the counts, which triggers keep, as text. */
async function everything(dataSource: DataSource): Promise<Record<string, string[]>> {
  const tables: { name: string }[] = await dataSource.query(
    `select tablename as name from pg_tables
     where schemaname = 'public' and tablename not in ('migrations', 'time_log_counts') order by 1`,
  );
  const content: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows: { row: string }[] = await dataSource.query(
      `select to_json(t)::text as row from ${name} t order by 1`,
    );
    content[name] = rows.map(({ row }) => row);
  }
  return content;
}

const ID = `(lpad(to_hex(1763683200000 + n), 12, '0') || '7' || lpad(to_hex(n), 3, '0') || '8' || repeat('0', 15))::uuid`;

/** Adds rows by SQL, of which the last has the number `to`. */
async function addRows(dataSource: DataSource, from: number, to: number, description = `'work ' || n`) {
  await dataSource.query(`
    insert into time_logs (id, project_id, duration, description, date)
    select ${ID.replace("lpad(to_hex(n), 3, '0')", "lpad(to_hex(n % 4096), 3, '0')")}, gen_random_uuid(), n + 0.1, ${description}, date '2026-01-01' + n % 300
    from generate_series(${from}, ${to}) n`);
}

const ODD = [
  ['5e-324', '', '0001-01-01'],
  ['1.7976931348623157e308', '😀 👩‍👩‍👧 ﷺ e\u0301 \u{10FFFF}', '9999-12-31'],
  ['0.1', 'a\\b \\n "quoted" \\\\ \\u0041', '2024-02-29'],
  ['0.10', 'lines\nand\r\nmore\t\u0001\u2028\u007f', '1582-10-10'],
  ['123456789012345678901234567890.123456789', '{"table":"time_logs"}', '2026-01-31'],
] as const;

async function addOddRows(dataSource: DataSource): Promise<void> {
  for (const [n, [duration, description, date]] of ODD.entries()) {
    await dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date)
       select ${ID}, gen_random_uuid(), $2, $3, $4 from (select $1::int as n) one`,
      [n, duration, description, date],
    );
  }
}

let directory: string;
let names = 0;
const fresh = () => join(directory, `fresh-${(names += 1)}`);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'time-logs-backup-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('backup and restore on the embedded database', () => {
  let source: string;
  let token: string;

  beforeAll(async () => {
    source = fresh();
    token = await newToken({ DATA_DIR: source });
    await withSqlIn(source, async (dataSource) => {
      await addOddRows(dataSource);
      await addRows(dataSource, 10, 2_500);
      await dataSource.query(
        `insert into time_log_keys (principal, text, fingerprint, time_log_id)
         select 'Ada', '\\ "key"', sha256('values'), id from time_logs limit 1`,
      );
    });
  });

  it('bring every row back as it was, and the tokens with them', async () => {
    const [file, target] = [fresh(), fresh()];
    expect(await run('backup', [file], { DATA_DIR: source })).toEqual({
      code: 0,
      stdout: `saved ${file}: access_tokens 1 rows, time_log_keys 1 rows, time_logs ${2_491 + ODD.length} rows\n`,
      stderr: '',
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await run('restore', [file], { DATA_DIR: target })).toEqual({
      code: 0,
      stdout: `restored ${file}: access_tokens 1 rows, time_log_keys 1 rows, time_logs ${2_491 + ODD.length} rows\n`,
      stderr: '',
    });
    const before = await withSqlIn(source, everything);
    expect(before.time_logs).toHaveLength(2_491 + ODD.length);
    expect(await withSqlIn(target, everything)).toEqual(before);
    expect(await run('counts', ['verify'], { DATA_DIR: target })).toMatchObject({ code: 0 });
    const service = await startService({ DATA_DIR: target });
    try {
      expect(await statusWith(token, service.url)).toBe(200);
    } finally {
      await service.end();
    }
  });

  it('save every table that the migrations make, as gzip of what COPY writes', async () => {
    const file = fresh();
    await run('backup', [file], { DATA_DIR: source });
    const lines = gunzipSync(await readFile(file)).toString();
    const tables = [...lines.matchAll(/^\{"table":"(\w+)","columns":\["\w+"(?:,"\w+")*\]\}$/gm)];
    expect(tables.map(([, name]) => name).sort()).toEqual(Object.keys(await withSqlIn(source, everything)));
    expect(lines).toMatch(/^[-0-9a-f]{36}\t[-0-9a-f]{36}\t0\.1\ta\\\\b \\\\n "quoted" .*\t2024-02-29$/m);
  });

  it('work while the service runs, and leave it running', async () => {
    const file = fresh();
    const service = await startService({ DATA_DIR: source });
    try {
      expect((await run('backup', [file], { DATA_DIR: source })).code).toBe(0);
      expect(await run('restore', [file], { DATA_DIR: source })).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^the database already holds \d rows in access_tokens: restore into an empty one, e.g. another DATA_DIR\n$/,
        ),
      });
      expect(await statusWith(token, service.url)).toBe(200);
    } finally {
      await service.end();
    }
    const target = fresh();
    expect((await run('restore', [file], { DATA_DIR: target })).code).toBe(0);
    // The service notes when a token was used, later than the backup.
    const [{ time_logs: restored }, { time_logs: saved }] = [
      await withSqlIn(target, everything),
      await withSqlIn(source, everything),
    ];
    expect(restored).toEqual(saved);
  });
});

function holds(file: Uint8Array, text: string): boolean {
  try {
    return gunzipSync(file).toString() === text;
  } catch {
    return false;
  }
}

describe('backup and restore by DATABASE_URL', () => {
  const databases: TestDatabase[] = [];
  const migrated = async () => {
    const database = await createTestDatabase();
    databases.push(database);
    await run('migrate', [], { DATABASE_URL: database.url });
    return database.url;
  };
  let source: string;

  beforeAll(async () => {
    source = await migrated();
    await withSql(source, addOddRows);
  });
  afterAll(async () => {
    for (const database of databases) await database.drop();
  });

  it('write the same file whatever the settings of the server, and read it back', async () => {
    const [plain, odd] = [fresh(), fresh()];
    expect((await run('backup', [plain], { DATABASE_URL: source })).code).toBe(0);
    await newToken({ DATABASE_URL: source });
    const target = await migrated();
    const name = new URL(target).pathname.slice(1);
    await withSql(target, async (dataSource) => {
      for (const setting of [
        `timezone = 'Asia/Kathmandu'`,
        `datestyle = 'SQL, DMY'`,
        `bytea_output = 'escape'`,
        `statement_timeout = '1min'`,
      ])
        await dataSource.query(`alter database ${name} set ${setting}`);
    });
    expect((await run('restore', [plain], { DATABASE_URL: target })).code).toBe(0);
    expect((await run('backup', [odd], { DATABASE_URL: target })).code).toBe(0);
    expect(gunzipSync(await readFile(odd)).toString()).toBe(gunzipSync(await readFile(plain)).toString());
  });

  it('migrate an empty database first', async () => {
    const file = fresh();
    await run('backup', [file], { DATABASE_URL: source });
    const target = await createTestDatabase();
    databases.push(target);
    expect((await run('restore', [file], { DATABASE_URL: target.url })).code).toBe(0);
    expect(await withSql(target.url, everything)).toEqual(await withSql(source, everything));
  });

  it('stream many rows through little memory', async () => {
    const [big, target, file] = [await migrated(), await migrated(), fresh()];
    // 72 MB of text, which is more than the heap may have.
    await withSql(big, (dataSource) => addRows(dataSource, 1, 24_000, `repeat(md5(n::text), 94)`));
    const small = ['--max-old-space-size=48'];
    expect(await run('backup', [file], { DATABASE_URL: big }, small)).toMatchObject({ code: 0 });
    expect(await run('restore', [file], { DATABASE_URL: target }, small)).toMatchObject({ code: 0 });
    const sum = (dataSource: DataSource) =>
      dataSource.query<unknown[]>(
        `select count(*), md5(string_agg(to_json(t)::text, '' order by id)) from time_logs t`,
      );
    expect(await withSql(target, sum)).toEqual(await withSql(big, sum));
  });

  it('say how far they have come', async () => {
    const [big, target, file] = [await migrated(), await migrated(), fresh()];
    await withSql(big, (dataSource) => addRows(dataSource, 1, 110_000));
    const saved = await run('backup', [file], { DATABASE_URL: big });
    expect(saved.stderr).toMatch(/^(?:time_logs: \d+ rows\n)+$/);
    const restored = await run('restore', [file], { DATABASE_URL: target });
    expect(restored.stderr).toMatch(/^(?:time_logs: \d+ rows checked\n)+(?:time_logs: \d+ rows\n)+$/);
  });

  it('refuse a target with rows, and add none', async () => {
    const file = fresh();
    await run('backup', [file], { DATABASE_URL: source });
    const target = await migrated();
    await withSql(target, (dataSource) => addRows(dataSource, 1, 3));
    const before = await withSql(target, everything);
    expect(await run('restore', [file], { DATABASE_URL: target })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'the database already holds 3 rows in time_logs: restore into an empty one, e.g. another DATA_DIR\n',
    });
    expect(await withSql(target, everything)).toEqual(before);
  });

  it('refuse to save a database that is not migrated, or too new', async () => {
    const [database, newer, file] = [await createTestDatabase(), await migrated(), fresh()];
    databases.push(database);
    const early = await run('backup', [file], { DATABASE_URL: database.url });
    expect([early.code, early.stderr]).toEqual([
      1,
      expect.stringMatching(/^the database lacks the migrations .*: run npm run migrate first\n$/),
    ]);
    await withSql(newer, (dataSource) =>
      dataSource.query(`insert into migrations (timestamp, name) values (9, 'Later9')`),
    );
    const late = await run('backup', [file], { DATABASE_URL: newer });
    expect([late.code, late.stderr]).toEqual([
      1,
      'the database has the migrations Later9 of a newer version: use that one\n',
    ]);
    await expect(access(file)).rejects.toThrow('ENOENT');
    await expect(access(`${file}.part`)).rejects.toThrow('ENOENT');
  });

  it('say in one line that the database is away', async () => {
    const file = fresh();
    const { code, stderr } = await run('backup', [file], { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    expect([code, stderr]).toEqual([
      1,
      'the database could not be reached: connect ECONNREFUSED 127.0.0.1:1\n',
    ]);
    await expect(access(`${file}.part`)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['interrupted', 'interrupted: nothing was saved\n'],
    ['cut off from the database', 'terminating connection due to administrator command\n'],
  ])('leave no file where a backup is %s', async (what, message) => {
    const file = fresh();
    const locker = await new DataSource({ type: 'postgres', url: source }).initialize();
    const runner = locker.createQueryRunner();
    try {
      await runner.query('begin; lock table time_logs');
      const saving = run('backup', [file], { DATABASE_URL: source });
      const waiting = `select pid from pg_locks where not granted and relation = 'time_logs'::regclass`;
      let waiters: { pid: number }[] = [];
      while (waiters.length === 0) waiters = (await runner.query(waiting)) as typeof waiters;
      await access(`${file}.part`);
      if (what === 'interrupted') saving.child.kill('SIGINT');
      else await runner.query('select pg_terminate_backend($1)', [waiters[0]!.pid]);
      expect(await saving).toEqual({ code: 1, stdout: '', stderr: message });
    } finally {
      await runner.query('rollback');
      await runner.release();
      await locker.destroy();
    }
    expect((await readdir(directory)).filter((name) => join(directory, name).startsWith(file))).toEqual([]);
  });

  it('take back what version 0.1 has saved', async () => {
    const file = join(import.meta.dirname, '..', 'upgrade', 'v0.1.backup.gz');
    const target = await migrated();
    expect(await run('restore', [file], { DATABASE_URL: target })).toEqual({
      code: 0,
      stdout: `restored ${file}: access_tokens 3 rows, time_logs 23 rows, time_log_keys 20 rows\n`,
      stderr: '',
    });
    // Of that version the rows are JSON, as `everything` has them; a column that came later has its default.
    const restored = Object.values(await withSql(target, everything)).flat();
    const saved = gunzipSync(await readFile(file))
      .toString()
      .match(/^\{"id".*|^\{"principal".*/gm);
    expect(restored.map((row) => JSON.parse(row) as unknown)).toEqual(
      expect.arrayContaining((saved ?? []).map((row) => expect.objectContaining(JSON.parse(row) as object))),
    );
    expect([saved?.length, restored.length]).toEqual([46, 46]);
    expect(await run('counts', ['verify'], { DATABASE_URL: target })).toMatchObject({
      stdout: 'the counts are right: 23 logs\n',
    });
  });

  it('add nothing where a row is refused in the middle', async () => {
    const [file, target] = [fresh(), await migrated()];
    await run('backup', [file], { DATABASE_URL: source });
    const text = gunzipSync(await readFile(file)).toString();
    const [row = ''] = /^.*2024-02-29\n/m.exec(text) ?? [];
    const rows = ODD.length + 1;
    await writeFile(
      file,
      gzipSync(text.replace(row, row + row).replace(/"time_logs":\d+/, `"time_logs":${rows}`)),
    );
    expect(await run('restore', [file], { DATABASE_URL: target })).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^duplicate key value violates unique constraint .*\n$/),
    });
    expect(Object.values(await withSql(target, everything)).flat()).toEqual([]);
  });

  describe('with a damaged file', () => {
    let sound: Buffer;
    let text: string;
    const linesOf = () => text.trimEnd().split('\n');
    beforeAll(async () => {
      const file = fresh();
      await run('backup', [file], { DATABASE_URL: source });
      sound = await readFile(file);
      text = gunzipSync(sound).toString();
    });

    const damages: [string, () => Buffer, RegExp][] = [
      ['an empty file', () => Buffer.alloc(0), /is not a backup/],
      ['text', () => Buffer.from(text), /is not a backup/],
      ['another gzip', () => gzipSync('hello\n'), /is not a backup/],
      ['gzip without lines', () => gzipSync(Buffer.alloc(20_000_000)), /is not a backup: it has no lines/],
      ['a truncated file', () => sound.subarray(0, sound.length / 2), /is damaged/],
      ['a file without its last byte', () => sound.subarray(0, -1), /is damaged/],
      ['zeros behind it', () => Buffer.concat([sound, Buffer.alloc(9)]), /something follows its end/],
      ['text behind it', () => Buffer.concat([sound, Buffer.from('garbage')]), /is damaged/],
      ['the file twice', () => Buffer.concat([sound, sound]), /something follows its end/],
      ['no trailer', () => gzipSync(linesOf().slice(0, -1).join('\n') + '\n'), /last line is missing/],
      ['half a trailer', () => gzipSync(text.slice(0, -9)), /is damaged/],
      ['half a table', () => gzipSync(linesOf().slice(0, 6).join('\n') + '\n'), /last line is missing/],
      ['a row less', () => gzipSync(text.replace(/^.*2024-02-29\n/m, '')), /does not count its rows/],
      ['a table less', () => gzipSync(linesOf().toSpliced(1, 2).join('\n') + '\n'), /does not count/],
      ['a later format', () => gzipSync(text.replace('"version":2', '"version":3')), /is not a backup/],
      [
        'a file of a newer version',
        () => gzipSync(text.replace('CreateTimeLogs', 'MakeTimeLogs')),
        /was made by a newer version, with the migrations MakeTimeLogs\d+: restore it with that version$/m,
      ],
    ];

    it.each(damages)('refuse %s before anything is touched', async (_what, damaged, reason) => {
      const [file, target] = [fresh(), fresh()];
      await writeFile(file, damaged());
      const { code, stdout, stderr } = await run('restore', [file], { DATA_DIR: target });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(reason);
      expect(stderr.startsWith(`${file}: `)).toBe(true);
      expect(stderr.trimEnd()).not.toContain('\n');
      // Not even the directory of the database was made.
      await expect(access(target)).rejects.toThrow('ENOENT');
    });

    it('refuse a flipped bit in any byte', async () => {
      const file = fresh();
      const check = () => checkBackup({ file, migrations, report: () => undefined });
      await writeFile(file, sound);
      await check();
      for (const [offset, byte] of sound.entries()) {
        const flipped = sound.with(offset, byte ^ (1 << (offset % 8)));
        // A few bits mean nothing, or point to the same letters elsewhere: nothing is damaged.
        if (holds(flipped, text)) continue;
        await writeFile(file, flipped);
        await expect(check()).rejects.toThrow(/is damaged|is not a backup/);
      }
    });
  });
});

describe('the command lines', () => {
  it.each(['backup', 'restore'])('of %s are explained without FILE', async (command) => {
    const target = fresh();
    for (const args of [[], ['--all'], ['a', 'b']]) {
      const { code, stdout, stderr } = await run(command, args, { DATA_DIR: target });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`Usage:\n  npm run ${command} -- FILE\n`);
    }
    await expect(access(target)).rejects.toThrow('ENOENT');
  });

  it('refuse to write over a file', async () => {
    const [file, target] = [fresh(), fresh()];
    await writeFile(file, 'precious');
    expect((await run('migrate', [], { DATA_DIR: target })).code).toBe(0);
    expect(await run('backup', [file], { DATA_DIR: target })).toEqual({
      code: 1,
      stdout: '',
      stderr: `${file} exists already: give the backup another name\n`,
    });
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  it('name a file that is not there', async () => {
    const { code, stderr } = await run('restore', ['/nowhere/file'], { DATA_DIR: fresh() });
    expect([code, stderr]).toEqual([1, "ENOENT: no such file or directory, open '/nowhere/file'\n"]);
  });
});
