import { beforeAll, describe, expect, it } from '@jest/globals';
import { digestOf } from '../../src/access-token/access-token.js';
import { queryOnce } from '../support/postgres-cluster.js';
import {
  AccessTokenLookup,
  AccessTokenService,
  ALL_PROJECTS,
  connectionOptions,
  Database,
  entities,
  LONG_QUEUE_LIMITS,
  longLimits as limits,
  migrate,
  migrations,
  openDataSource,
  PageRequest,
  Period,
  RelayLease,
  SchemaCheck,
  TimeLog,
  SchemaAttributes,
  TimeLogCounts,
  TypeOrmFeedRepository,
  TypeOrmTimeLogRepository,
  TypeOrmTotalsRepository,
} from '../support/storage.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { recordOnce } from '../support/record-once.js';

const ANY_ATTRIBUTES = new SchemaAttributes({
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
});
const PROJECT = '11111111-1111-1111-1111-111111111111';
const ALL = { period: Period.of() };
const EXPIRY = new Date('2199-02-01T10:00:00.000Z');

/** The third has no attributes, and the texts of the others hold what settings may read in another way. */
const logNumber = (number: number, duration = number / 10) =>
  TimeLog.restore({
    id: `019c1370-4e1b-7000-8000-${String(number).padStart(12, '0')}`,
    projectId: PROJECT,
    duration,
    description: `\\d \\' '' "NULL" é 😀 ${number}`,
    date: number === 2 ? '0031-02-01' : '2026-02-01',
    ...(number !== 3 && { attributes: { text: 'NULL \\ "', nothing: null, number } }),
  });

/** All that is done in the life of a database, and every answer on the way. */
async function life({ url }: TestDatabase): Promise<unknown> {
  await migrate({ url, migrations });
  const dataSource = await openDataSource(connectionOptions(url, entities, limits));
  try {
    const database = new Database(dataSource);
    const repository = new TypeOrmTimeLogRepository(database, LONG_QUEUE_LIMITS, ANY_ATTRIBUTES);
    const feed = new TypeOrmFeedRepository(repository);
    const sums = new TypeOrmTotalsRepository(repository);
    const happened = async () =>
      (await feed.eventsAfter(undefined, 50)).map(({ type, log, time }) => [type, log, typeof time]);
    await new SchemaCheck(repository).onApplicationBootstrap();
    await repository.keepPositions();
    await Promise.all([1, 2, 3].map((number) => repository.record([logNumber(number)])));
    const key = { caller: 'somebody', text: `it's \\ "a" key` };
    const keyed = [
      await recordOnce(repository, logNumber(4), key),
      await recordOnce(repository, logNumber(4), key),
    ];
    const first = await happened();
    // As a restore does. From now on the feed reads by how much it has moved.
    await dataSource.transaction('READ COMMITTED', async (manager) => {
      await manager.query('select move_time_log_positions()');
    });
    await repository.record([logNumber(5)]);
    const changes = [
      await repository.correct(logNumber(3, 1e-7), ALL_PROJECTS),
      await repository.correct(logNumber(3, 1e-7), ALL_PROJECTS),
      await repository.delete(logNumber(1).id, ALL_PROJECTS),
      await repository.get(logNumber(3).id, ALL_PROJECTS),
      await repository.get(logNumber(1).id, ALL_PROJECTS),
    ];
    const period = { period: Period.of('2026-01-01', '2026-12-31') };
    const lists = [
      await repository.find(ALL, PageRequest.of(1, 2), ALL_PROJECTS),
      await repository.find(period, PageRequest.of(1, 9), [PROJECT, logNumber(1).id]),
    ].map(({ logs, total }) => [[...logs], total]);
    const groupings = [undefined, 'project', 'day', 'week', 'month', 'project,month'] as const;
    const totals = [];
    for (const grouping of groupings)
      totals.push(await sums.totals(period, grouping, PageRequest.of(1, 9), ALL_PROJECTS));
    const tokens = new AccessTokenService(database);
    const { token } = await tokens.create({
      name: 'test',
      scopes: ['a', 'b'],
      projects: [PROJECT],
      expiresAt: EXPIRY,
    });
    const [listed] = await tokens.list();
    const found = await new AccessTokenLookup(database).find(digestOf(token));
    const lease = await RelayLease.take(database, 'sink', PROJECT, 1_000);
    await lease?.save({ position: '5', logId: PROJECT });
    await lease?.release();
    return {
      first,
      keyed,
      changes,
      lists,
      totals,
      backlog: (await feed.backlog({ position: '0', logId: PROJECT }, 9)).events,
      last: await happened(),
      counts: await new TimeLogCounts(database).verify(),
      token: [
        listed?.expiresAt?.getTime(),
        listed?.scopes,
        typeof listed?.createdAt.getTime(),
        found?.caller.projects,
      ],
      isFoundLong: found!.remainingMs! > 1e9,
      relayed: await RelayLease.stateOf(database, 'sink'),
    };
  } finally {
    await dataSource.destroy();
  }
}

/** Lives in a database whose role, or which itself, has settings. */
async function lifeWith(settings: readonly string[], by: 'role' | 'database' = 'role'): Promise<unknown> {
  const database = await createTestDatabase();
  try {
    for (const setting of settings)
      await queryOnce(
        database.superuserUrl,
        `begin read write; alter ${by} ${database.name} set ${setting}; commit`,
      );
    return await life(database);
  } finally {
    await database.drop();
  }
}

describe('a service whose role or database has another setting', () => {
  let usual: unknown;
  beforeAll(async () => {
    usual = await lifeWith([]);
  });

  // Together are settings that do not contradict each other: each row costs a migration of a new database.
  it.each([
    [
      ...['standard_conforming_strings = off', `datestyle = 'SQL, DMY'`, 'intervalstyle = sql_standard'],
      ...[`timezone = 'Pacific/Apia'`, `default_transaction_isolation = 'serializable'`],
      ...['default_transaction_deferrable = on', 'plan_cache_mode = force_custom_plan', 'jit = off'],
      ...['enable_seqscan = off', 'plpgsql.variable_conflict = use_variable', `plpgsql.extra_errors = 'all'`],
    ],
    [
      ...['standard_conforming_strings = off', 'backslash_quote = off', 'escape_string_warning = on'],
      ...[`datestyle = 'German'`, 'intervalstyle = iso_8601', `timezone_abbreviations = 'India'`],
      ...[`default_transaction_isolation = 'repeatable read'`, 'plan_cache_mode = force_generic_plan'],
      ...['enable_indexscan = off', 'constraint_exclusion = on', 'plpgsql.variable_conflict = use_column'],
      'default_toast_compression = pglz',
    ],
    [
      ...[`datestyle = 'Postgres, MDY'`, 'intervalstyle = postgres_verbose', 'extra_float_digits = -15'],
      ...[
        `timezone = 'America/New_York'`,
        'bytea_output = escape',
        'xmlbinary = hex',
        'xmloption = document',
      ],
      ...['transform_null_equals = on', 'quote_all_identifiers = on', 'client_encoding = latin1'],
      ...['client_min_messages = debug5', 'search_path = public, pg_catalog'],
    ],
    [
      ...[`lc_messages = 'C.UTF-8'`, `lc_monetary = 'C.UTF-8'`, `lc_numeric = 'C.UTF-8'`],
      ...[`lc_time = 'C.UTF-8'`, 'session_replication_role = local', 'row_security = off'],
      ...['check_function_bodies = off', 'synchronous_commit = off', 'commit_delay = 10'],
      ...['lock_timeout = 60000', 'statement_timeout = 60000', 'idle_in_transaction_session_timeout = 60000'],
    ],
  ])('gives the same answers: %s, %s, %s, and others', async (...settings) => {
    expect(await lifeWith(settings)).toEqual(usual);
  });

  it.each([
    [
      'default_transaction_read_only = on',
      /^the database schema could not be migrated: cannot execute CREATE TABLE in a read-only transaction: use a server /,
    ],
  ])('is refused at the start, in one line that says what to do: %s', async (setting, line) => {
    for (const by of ['role', 'database'] as const)
      await expect(lifeWith([setting], by)).rejects.toMatchObject({
        message: expect.stringMatching(new RegExp(`${line.source}[^\\n]*$`)),
      });
  });
});
