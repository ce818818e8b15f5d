import { access, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { eventually } from '../support/eventually.js';
import { addOddRows, addRows, everything, ODD_ROWS, withSql } from '../support/backup-rows.js';
import { lastLineOf, runCommand } from '../support/commands.js';
import { runHere as run, startHere } from '../support/service-here.js';
import { createFile } from '../../src/commands/new-file.js';
import { openDatabase } from '../../src/database/setup/index.js';
import { useFolder } from '../support/fixtures.js';
import { create, list, LOG, send, type Target, TIME_LOGS } from '../support/requests.js';
import { createMigratedDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Does something on the embedded database of a directory, which runs meanwhile. */
async function withSqlIn<T>(dataDir: string, act: (sql: DataSource) => Promise<T>): Promise<T> {
  const none = { databaseUrl: undefined, migrationDatabaseUrl: undefined };
  const database = await openDatabase({
    ...none,
    isCommand: true,
    dataDir,
    log: () => undefined,
  });
  try {
    return await withSql(database.url, act);
  } finally {
    await database.close();
  }
}

const inFolder = useFolder('time-logs-backup-');
let names = 0;
const fresh = () => inFolder(`fresh-${(names += 1)}`);
/** Returns the expected result of a failure with one line. */
const refused = (line: unknown) => ({ code: 1, stdout: '', stderr: line });
const done = { code: 0, stderr: '' };
/** Returns the files of a backup, including the one that it writes first. */
const filesOf = async (file: string) =>
  (await readdir(inFolder())).filter((name) => inFolder(name).startsWith(file));
/** Returns the content of a file. */
const textOf = async (file: string) => gunzipSync(await readFile(file)).toString();

describe('backup and restore on the embedded database', () => {
  let source: string;
  let token: string;
  let before: Awaited<ReturnType<typeof everything>>;
  /** A backup of the source, and what the command said. */
  let file: string;
  let saved: Awaited<ReturnType<typeof run>>;

  beforeAll(async () => {
    [source, file] = [fresh(), fresh()];
    await withSqlIn(source, async (sql) => {
      token = lastLineOf(await run('token', ['create', '--name', 'Ada'], { DATA_DIR: source }));
      // Its transactions have higher numbers than those of a new server.
      await sql.query(`do $$ begin
        for n in 1..2000 loop perform pg_current_xact_id(); commit; end loop; end $$`);
      await addOddRows(sql);
      await addRows(sql, 10, 2_500);
      await sql.query(
        `insert into time_log_keys (principal, text, fingerprint, logs)
         select 'Ada', '\\ "key"', sha256('values'), json_build_array(id, description) from time_logs limit 1`,
      );
      before = await everything(sql);
    });
    saved = await run('backup', [file], { DATA_DIR: source });
  });

  const withService = async <T>(dataDir: string, act: (service: Target) => Promise<T>) => {
    const service = await startHere({ DATA_DIR: dataDir });
    try {
      return await act({ port: service.port, token });
    } finally {
      await service.end();
    }
  };
  /** The ids of all events after the one with an id. */
  const feedOf = async (service: Target, after?: string) => {
    const ids: string[] = [];
    for (let last = after; ;) {
      const place = last === undefined ? '' : `&lastEventId=${last}`;
      const { body } = await send(service, `${TIME_LOGS}/events?limit=1000${place}`);
      const events = body as { readonly id: string }[];
      ids.push(...events.map(({ id }) => id));
      last = events.at(-1)?.id;
      if (last === undefined) return ids;
    }
  };
  const rowsOf = (text: string) => /^\{"table":"time_logs",[^]*?(?=^\{)/m.exec(text)?.[0];

  it('restore every row as it was, with the tokens, and consumers of the feed go on', async () => {
    const target = fresh();
    const total = 2_491 + ODD_ROWS.length;
    const rows = `access_tokens 1 rows, time_log_deletions 0 rows, time_log_departures 0 rows, time_log_keys 1 rows, time_log_relays 0 rows, time_logs ${total} rows`;
    expect(saved).toEqual({ ...done, stdout: `saved ${file}: ${rows}\n` });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await run('restore', [file], { DATA_DIR: target })).toEqual({
      code: 0,
      stdout: `restored ${file}: ${rows}\n`,
      stderr: `created a new database in ${target}\n`,
    });
    expect(before.time_logs).toHaveLength(total);
    await withSqlIn(target, async (sql) => {
      expect(await everything(sql)).toEqual(before);
      expect(await run('counts', ['verify'], { DATA_DIR: target })).toMatchObject({ code: 0 });
    });
    const was = await withService(source, feedOf);
    expect(was.length).toBe(total);
    await withService(target, async (service) => {
      expect(await feedOf(service)).toEqual(was);
      const { body } = await create(service, LOG);
      const [event, ...others] = await feedOf(service, was.at(-1));
      expect([(body as { data: { id: string } }).data.id, others]).toEqual([
        event?.split('-').slice(1).join('-'),
        [],
      ]);
    });
  });

  it('work while the service runs, and leave it running', async () => {
    const during = fresh();
    await withService(source, async (service) => {
      expect((await run('backup', [during], { DATA_DIR: source })).code).toBe(0);
      expect((await run('restore', [during], { DATA_DIR: source })).code).toBe(1);
      expect((await list(service)).status).toBe(200);
    });
    // The service notes when a token was used.
    const rows = rowsOf(await textOf(file));
    expect(rows?.split('\n').length).toBeGreaterThan(2_491);
    expect(rowsOf(await textOf(during))).toBe(rows);
  });
});

describe('backup and restore by DATABASE_URL', () => {
  const databases: TestDatabase[] = [];
  const kept = (database: TestDatabase) => {
    databases.push(database);
    return database;
  };
  const emptyDatabase = async () => kept(await createTestDatabase());
  const migrated = async () => kept(await createMigratedDatabase()).url;
  let source: string;
  /** A backup of the source. */
  let saved: string;

  beforeAll(async () => {
    [source, saved] = [await migrated(), fresh()];
    await withSql(source, async (sql) => {
      await addOddRows(sql);
      await sql.query(
        `insert into access_tokens (id, name, digest, scopes, created_at, projects, bound)
         select gen_random_uuid(), 'Ada', sha256(coalesce(projects, 'all')::bytea), '{time-logs:read}', now(), projects::uuid[],
                case projects when '{}' then '{"attributes": {"userId": "a\\\\\\t\\"😀", "level": 1e-7}, "projects": null}'::jsonb end
           from (values ('{}'), ('{11111111-1111-1111-1111-111111111111}'), (null)) bounds (projects)`,
      );
    });
    await run('backup', [saved], { DATABASE_URL: source });
  });
  afterAll(async () => {
    for (const database of databases) await database.drop();
  });

  it('refuse a target with rows, and add none', async () => {
    const target = await migrated();
    await withSql(target, (sql) => addRows(sql, 1, 3));
    const before = await withSql(target, everything);
    expect(await run('restore', [saved], { DATABASE_URL: target })).toEqual(
      refused(
        'the database already holds 3 rows in time_logs: restore into an empty one (set another DATABASE_URL, or DATA_DIR)\n',
      ),
    );
    expect(await withSql(target, everything)).toEqual(before);
  });

  it('refuse to save a database that is not migrated, too new or away', async () => {
    const [database, newer, file] = [await emptyDatabase(), await migrated(), fresh()];
    await withSql(newer, (sql) => sql.query(`insert into migrations (timestamp, name) values (9, 'Later9')`));
    for (const [DATABASE_URL, stderr] of [
      [
        database.url,
        expect.stringMatching(/^the database lacks the migrations .*: run npm run migrate first\n$/),
      ],
      [newer, 'the database has the migrations Later9 of a newer version: use that version\n'],
      [
        'postgres://127.0.0.1:1/none',
        'the database at 127.0.0.1:1 could not be reached: connect ECONNREFUSED 127.0.0.1:1; check DATABASE_URL and that PostgreSQL runs there\n',
      ],
    ] as const)
      expect(await run('backup', [file], { DATABASE_URL })).toMatchObject({ code: 1, stderr });
    expect(await filesOf(file)).toEqual([]);
  });

  it.each(['backup', 'counts'] as const)('where row security hides rows, %s refuses', async (command) => {
    const [url, file] = [await migrated(), fresh()];
    await withSql(url, async (sql) => {
      await addRows(sql, 1, 3);
      await sql.query(`create policy small on time_logs using (duration < 2);
        alter table time_logs enable row level security, force row level security`);
    });
    expect(await run(command, [command === 'backup' ? file : 'verify'], { DATABASE_URL: url })).toEqual(
      refused(
        expect.stringMatching(
          /^row security would hide rows of time_logs from the role test_\w+: use a role with bypassrls in DATABASE_URL, .*\n$/,
        ),
      ),
    );
    expect(await filesOf(file)).toEqual([]);
  });

  /** Does something while what runs on a database waits for a lock that another session holds. */
  const whileItWaits = <Running extends Promise<unknown>>(
    url: string,
    lock: string,
    start: () => Running,
    act: (running: Running, waiter: number, holder: QueryRunner) => Promise<unknown>,
  ) =>
    withSql(url, async (sql) => {
      const holder = sql.createQueryRunner();
      try {
        await holder.query(`begin; ${lock}`);
        const running = start();
        const waiting = `select pid from pg_locks where not granted
          and database = (select oid from pg_database where datname = current_database())`;
        const waiter = await eventually(async () => {
          const [found] = (await holder.query(waiting)) as { pid: number }[];
          expect(found).toBeDefined();
          return found!.pid;
        });
        await act(running, waiter, holder);
        return await running;
      } finally {
        await holder.query('rollback');
        await holder.release();
      }
    });

  it.each([
    ['interrupted by Ctrl-C', 'interrupted: nothing was saved\n'],
    ['interrupted by the end of the terminal', 'interrupted: nothing was saved\n'],
    ['cut off from the database', 'terminating connection due to administrator command\n'],
  ])('leave no file where a backup is %s', async (what, message) => {
    const isCutOff = what.startsWith('cut');
    const file = fresh();
    const outcome = await whileItWaits(
      source,
      'lock table time_logs',
      () => (isCutOff ? run : runCommand)('backup', [file], { DATABASE_URL: source }),
      async (saving, waiter, holder) => {
        await access(`${file}.part`);
        if (isCutOff) await holder.query('select pg_terminate_backend($1)', [waiter]);
        else
          (saving as ReturnType<typeof runCommand>).child.kill(what.endsWith('Ctrl-C') ? 'SIGINT' : 'SIGHUP');
        await saving;
      },
    );
    expect(outcome).toEqual(refused(message));
    expect(await filesOf(file)).toEqual([]);
  });

  it('add nothing where a row is refused in the middle', async () => {
    const [file, target] = [fresh(), await migrated()];
    const text = await textOf(saved);
    const [row = ''] = /^.*2024-02-29\t\\N\t\d+\t\\N\n/m.exec(text) ?? [];
    const rows = ODD_ROWS.length + 1;
    await writeFile(
      file,
      gzipSync(text.replace(row, row + row).replace(/"time_logs":\d+/, `"time_logs":${rows}`)),
    );
    expect(await run('restore', [file], { DATABASE_URL: target })).toEqual(
      refused(expect.stringMatching(/^duplicate key value violates unique constraint .*\n$/)),
    );
    expect(Object.values(await withSql(target, everything)).flat()).toEqual([]);
  });
});

describe('the command lines', () => {
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };

  it('refuse to write over a file', async () => {
    const file = fresh();
    await writeFile(file, 'precious');
    expect(await run('backup', [file], nowhere)).toEqual(
      refused(`${file} exists already: give the backup another name\n`),
    );
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  it('leave no part of a file on a full disk', async () => {
    const file = fresh();
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
    await expect(createFile(file, () => Promise.reject(full))).rejects.toThrow(
      `there is no room for ${file} (ENOSPC), and nothing was saved: free space in ${dirname(file)}, or name a file on another disk`,
    );
    await expect(access(`${file}.part`)).rejects.toThrow('ENOENT');
  });

  it('refuse a damaged file in one line, and do not even make the directory of the database', async () => {
    const [file, target] = [fresh(), fresh()];
    await writeFile(file, 'hello');
    expect(await run('restore', [file], { DATA_DIR: target })).toEqual(
      refused(expect.stringMatching(new RegExp(`^${file}: [^\\n]*is not a backup[^\\n]*\\n$`))),
    );
    await expect(access(target)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['restore', '/nowhere/file', 'there is no file /nowhere/file: name one that npm run backup has made'],
    ['restore', '/', '/: is not a file'],
    ['restore', '/dev/null/file', '/dev/null/file cannot be read (ENOTDIR): let this user read it'],
    ['backup', '/nowhere/file', 'there is no folder /nowhere: make it, or name a file in another one'],
    [
      'backup',
      '/dev/null/file',
      '/dev/null/file cannot be written (ENOTDIR): let this user write to /dev/null, or name a file in another folder',
    ],
  ] as const)('say in one line what to do about the file of a %s: %s', async (command, file, message) => {
    expect(await run(command, [file], nowhere)).toEqual(refused(`${message}\n`));
  });
});
