import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { withSql } from '../support/backup-rows.js';
import { lastLineOf, runCommand } from '../support/commands.js';
import { runHere as run, startHere } from '../support/service-here.js';
import { accessTokenMigrations } from '../../src/access-token/index.js';
import { migrate } from '../../src/database/setup/index.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { createTestDatabase } from '../support/test-database.js';

/** As many projects, each another one. */
const uuids = (count: number) =>
  Array.from({ length: count }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
/** Returns the expected result of a failure with this line. */
const refused = (line: string) => ({ code: 1, stdout: '', stderr: `${line}\n` });
const printed = (line: string) => ({ code: 0, stdout: `${line}\n`, stderr: '' });

describe('the token command', () => {
  const database = useTestDatabase();
  const older = useTestDatabase(createTestDatabase);
  const token = (...args: string[]) => run('token', args, { DATABASE_URL: database.url });
  /** The row of a name in the list. */
  const rowOf = async (name: string) =>
    (await token('list')).stdout.split('\n').find((row) => row.includes(name)) ?? '';
  /** When a token was made. */
  const made = '[-\\d]+ [:\\d]+Z';

  it('prints a token as its last line, by default for all that is done with time logs', async () => {
    const outcome = await token('create', '--name', 'Ada');
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(lastLineOf(outcome)).toMatch(/^tl_[\w-]{43}$/);
    expect(await rowOf('Ada')).toMatch(
      new RegExp(`Ada +time-logs:read time-logs:write +${made} +never +never +active$`),
    );
  });

  it('makes a token with the given scopes and end', async () => {
    const day = () => new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
    const first = day();
    const scopes = ['--scope', 'metrics:read', '--scope', 'time-logs:correct'];
    await token('create', '--name', 'Clerk', ...scopes, '--expires', '90d');
    expect(await rowOf('Clerk')).toMatch(
      new RegExp(
        `Clerk +time-logs:correct metrics:read +${made} +(${first}|${day()}) [:\\d]+Z +never +active$`,
      ),
    );
  });

  it('makes a token that is bound to projects, each named once, and list shows them', async () => {
    const [one, two] = ['abcdefab-cdef-4abc-8def-abcdefabcdef', '11111111-1111-1111-1111-111111111111'];
    const bound = [one.toUpperCase(), two, one].flatMap((project) => ['--project', project]);
    expect((await token('create', '--name', 'Bound', ...bound)).code).toBe(0);
    expect((await token('create', '--name', 'Free')).code).toBe(0);
    const lines = (await token('list')).stdout.trimEnd().split('\n');
    const after = (name: string) => lines[lines.findIndex((line) => line.includes(` ${name} `)) + 1];
    expect([after('Bound'), after('Free')]).toEqual([`  bound to ${one} ${two}`, undefined]);
    const most = uuids(100).flatMap((project) => ['--project', project]);
    expect((await token('create', '--name', 'Wide', ...most, ...most)).code).toBe(0);
    expect((await token('list')).stdout).toContain(`\n  bound to ${uuids(100).join(' ')}\n`);
  });

  it('makes a token that is bound to attributes, and list shows them', async () => {
    const bound = ['create', '--name', 'Own', '--attribute', 'userId=ada=b'];
    expect((await token(...bound)).stderr).toMatch('--attribute needs the file');
    const schema = join(import.meta.dirname, '..', '..', 'docker', 'attributes', 'person.json');
    const withSchema = (...args: string[]) =>
      run('token', args, { DATABASE_URL: database.url, ATTRIBUTES_SCHEMA: schema });
    expect(await withSchema(...bound)).toMatchObject({ code: 0, stderr: '' });
    expect((await token('list')).stdout).toContain('\n  bound to userId=ada=b\n');
    for (const [value, message] of [
      ['userId', '--attribute takes a name and a value, such as userId=ada'],
      ['team=a', '(userId), and "team" is not one'],
      [`userId=${'x'.repeat(256)}`, '--attribute: attributes.userId must be at most 255 characters'],
    ] as const)
      expect((await withSchema('create', '--name', 'X', '--attribute', value)).stderr).toContain(message);
    expect((await withSchema(...bound, '--attribute', 'userId=b')).stderr).toContain('userId only once');
  });

  it('revokes a token by the id that list shows', async () => {
    await token('create', '--name', 'Short');
    const [id = ''] = (await rowOf('Short')).split(' ');
    expect((await token('revoke', id)).code).toBe(0);
    expect(await rowOf('Short')).toMatch(/revoked/);
  });

  it('rotates a token, whose earlier secret list shows while it works', async () => {
    await token('create', '--name', 'Turning', '--expires', '90d');
    const [id = ''] = (await rowOf('Turning')).split(' ');
    const outcomes = [await token('rotate', id), await token('rotate', id.toUpperCase(), '--overlap', '1h')];
    expect(outcomes).toEqual(
      ['the service rejects the earlier one within 5 seconds', `the earlier one works until ${made}`].map(
        (earlier) => ({
          code: 0,
          stdout: expect.stringMatching(
            new RegExp(
              `^Token ${id} for Turning has a new secret, shown only once; ${earlier}\\.\ntl_[\\w-]{43}\n$`,
              'i',
            ),
          ),
          stderr: '',
        }),
      ),
    );
    expect(await rowOf('the earlier secret')).toMatch(
      new RegExp(`^  the earlier secret works until ${made}$`),
    );
    expect(await rowOf('Turning')).toMatch(/active$/);
  });

  it.each([
    ['revoked', 'revoked_at'],
    ['expired', 'expires_at'],
  ])('does not rotate a token that is %s', async (state, column) => {
    await token('create', '--name', state);
    const [id = ''] = (await rowOf(state)).split(' ');
    await queryOnce(database.url, `update access_tokens set ${column} = now() where id = '${id}'`);
    expect(await token('rotate', id)).toEqual(
      refused(`the token ${id} is ${state}, so it cannot be rotated: create a new one`),
    );
  });

  it.each([
    [['create'], 'create needs --name NAME'],
    [['create', '--name', 'x', '--scope', 'everything'], 'there is no scope "everything"'],
    [['create', '--name', 'x', '--project', 'mine alone'], '--project takes the UUID of a project, such as'],
    [
      ['create', '--name', 'x', ...uuids(101).flatMap((project) => ['--project', project])],
      'a token can be bound to at most 100 projects; these are 101',
    ],
    [['revoke', 'x'], 'revoke takes the id of a token'],
    [['crate'], 'say create, list, rotate ID or revoke ID'],
  ])('explains what is wrong with %j', async (args, message) => {
    const { code, stdout, stderr } = await token(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Usage:');
    expect(stderr).not.toContain('mine alone');
  });

  it('says what to do where the database is of an older version', async () => {
    await migrate({ url: older.url, migrations: accessTokenMigrations });
    await queryOnce(older.url, 'alter table access_tokens drop column bound');
    expect(await run('token', ['list'], { DATABASE_URL: older.url })).toEqual(
      refused('the tables of the database are from an older version: run npm run migrate to update them'),
    );
  });
});

describe('the commands on the embedded database', () => {
  const inFolder = useFolder('time-logs-commands-');
  const env = () => ({ DATA_DIR: inFolder() });

  it('migrates once, and makes and rotates tokens whether the service runs or not', async () => {
    const { code, stdout, stderr } = await run('migrate', [], env());
    expect([code, stderr]).toEqual([0, `created a new database in ${inFolder()}\n`]);
    expect(stdout).toMatch(/^migrated CreateTimeLogs\d+$/m);
    expect(await run('migrate', [], env())).toEqual(printed('nothing to migrate'));
    const file = inFolder('access-token');
    const firstToken = async () => (await readFile(file, 'utf8')).trim();
    const rotateFirst = async () => {
      const [, id = ''] = /^(\S+) +first /m.exec((await run('token', ['list'], env())).stdout) ?? [];
      const rotated = await run('token', ['rotate', id], env());
      expect(rotated).toMatchObject({ code: 0, stderr: '' });
      expect(rotated.stdout).toContain(`\nIt is also in ${file}.\n`);
      expect(await firstToken()).toBe(lastLineOf(rotated));
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    };
    const before = await run('token', ['create', '--name', 'before'], env());
    const service = await startHere(env());
    const health = async (token: string) =>
      (await fetch(`${service.url}/health`, { headers: { authorization: `Bearer ${token}` } })).status;
    const during = await runCommand('token', ['create', '--name', 'during'], env());
    for (const made of [before, during]) {
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(await health(lastLineOf(made))).toBe(200);
    }
    const first = await firstToken();
    expect(await health(first)).toBe(200);
    await rotateFirst();
    expect(await health(await firstToken())).toBe(200);
    await eventually(async () => expect(await health(first)).toBe(401));
    await service.end();
    await rotateFirst();
  });
});

describe('the counts command', () => {
  const database = useTestDatabase();
  const counts = (...args: string[]) => run('counts', args, { DATABASE_URL: database.url });
  const query = (sql: string, url = database.url) => queryOnce(url, sql);
  beforeEach(() =>
    query(
      `truncate time_logs;
       insert into time_logs values ('019c1370-4e1b-7000-8000-000000000001', gen_random_uuid(), 1, '', '2026-01-31')`,
    ),
  );

  it('verifies and rebuilds', async () => {
    expect(await counts('verify')).toEqual(printed('the counts are correct: 1 logs'));
    await query('delete from time_log_changes');
    const wrong = await counts('verify');
    expect([wrong.code, wrong.stdout]).toEqual([
      1,
      '4 counts are wrong: run npm run counts -- rebuild to correct them\n',
    ]);
    expect((await counts('rebuild')).stdout).toBe('corrected 4 counts\n');
    expect((await counts('verify')).code).toBe(0);
  });
});

describe('the drop command', () => {
  const database = useTestDatabase();
  const drop = (...args: string[]) => run('drop', args, { DATABASE_URL: database.url });

  it('says what is wrong', async () => {
    for (const [line, message] of [
      ['', 'specify one DAY, such as 2020-01-31'],
      ['2026-02-30', 'specify one DAY, such as 2020-01-31'],
      ['9999-12-31', 'the DAY must not be later than today (UTC)'],
      ['2020-01-01 --publis', "Unknown option '--publis'"],
      ['2020-01-01 --publish --dry-run', 'say --publish or --dry-run, not both'],
    ] as const) {
      const { stderr } = await drop(...line.split(' ').filter((arg) => arg !== ''));
      expect(stderr.startsWith(message)).toBe(true);
      expect(stderr).toMatch(/^.+\n\nUsage:\n/);
    }
  });

  it('drops the logs before a day, and prints the number of the rest', async () => {
    await withSql(database.url, async (sql) => {
      await sql.query(
        `insert into time_logs (id, project_id, duration, description, date)
         select ('019c1370-4e1b-7000-8000-' || lpad(n::text, 12, '0'))::uuid, gen_random_uuid(), 1, '', date '2019-12-30' + n
           from generate_series(0, 3) n`,
      );
      expect(await drop('2020-01-01', '--dry-run')).toEqual(printed('2 logs would be dropped'));
      const holder = sql.createQueryRunner();
      await holder.startTransaction();
      await holder.query(`select from time_logs where date = '2019-12-30' for update`);
      expect(await drop('2020-01-01')).toEqual({
        code: 1,
        stdout:
          'dropped 1 logs; 1 remain, which other transactions locked or recorded: run the command again\n',
        stderr: '',
      });
      await holder.rollbackTransaction();
      await holder.release();
      expect(await drop('2020-01-01', '--publish')).toEqual(printed('dropped 1 logs'));
      expect(await sql.query('select date::text from time_logs order by 1')).toEqual([
        { date: '2020-01-01' },
        { date: '2020-01-02' },
      ]);
    });
    expect((await run('counts', ['verify'], { DATABASE_URL: database.url })).stdout).toBe(
      'the counts are correct: 2 logs\n',
    );
  });
});

describe('the forget command', () => {
  const database = useTestDatabase();
  const forget = (...args: string[]) => run('forget', args, { DATABASE_URL: database.url });

  it('forgets the deletions before a day', async () => {
    await withSql(database.url, async (sql) => {
      await sql.query(
        `insert into time_log_deletions values (1, gen_random_uuid(), gen_random_uuid(), '2026-01-30T23:59:59Z'),
                                               (2, gen_random_uuid(), gen_random_uuid(), '2026-01-31T00:00:00Z')`,
      );
      expect(await forget('2026-01-31')).toEqual(printed('forgot 1 deletions'));
      expect(await sql.query('select position from time_log_deletions where project_id is not null')).toEqual(
        [{ position: '2' }],
      );
    });
  });
});

describe('a database without tables', () => {
  const empty = useTestDatabase(createTestDatabase);

  it.each([
    ['counts', 'verify', 'counts'],
    ['drop', '2020-01-01', 'functions that drop logs'],
    ['forget', '2026-01-31', 'deletions'],
  ] as const)('is reported by %s, with what to do', async (command, arg, missing) => {
    expect(await run(command, [arg], { DATABASE_URL: empty.url })).toEqual(
      refused(`the database has no ${missing} yet: run npm run migrate to create them`),
    );
  });
});
