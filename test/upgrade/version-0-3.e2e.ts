import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataSource, DataSource as Source } from 'typeorm';
import { eventually } from '../support/eventually.js';
import { withSql } from '../support/backup-rows.js';
import { Database } from '../../src/database/index.js';
import { migrate, plainOptions } from '../../src/database/setup/index.js';
import { migrations } from '../../src/app.module.js';
import { TimeLogCountsCheck, timeLogMigrations } from '../../src/time-log/index.js';
import { runHere, type ServiceHere, startHere } from '../support/service-here.js';
import { useTestDatabase } from '../support/fixtures.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { sendUnchecked, TIME_LOGS } from '../support/requests.js';
import { createTestDatabase } from '../support/test-database.js';
import { everything, loadVersion03 } from './version-0-3.js';

/** Rows of counts that 0.3 has left. Its owner may insert them with a setting. */
const ZERO_COUNTS = `
  set time_logs.counting = 'on';
  insert into time_log_months (of_all, project_id, month, total, duration, days, durations)
  select false, gen_random_uuid(), '1001-01-01', 0, 0, '{NULL}', '{NULL}' from generate_series(1, 10);
  insert into time_log_decades (of_all, project_id, decade, total, duration)
  select false, gen_random_uuid(), '1001-01-01', 0, 0 from generate_series(1, 10);
  reset time_logs.counting`;

const file = (name: string) => join(import.meta.dirname, name);

/** The contents of the database, as version 0.3 reported them. */
interface Contents {
  readonly token: string;
  readonly total: number;
  readonly perProject: Readonly<Record<string, number>>;
  /** The ids of the events in its feed. */
  readonly feed: { readonly events: number; readonly digest: string };
  /** A token for the first two projects, and one that is revoked. */
  readonly bound: string;
  readonly revoked: string;
  /** A token for the logs of Ada; one that was rotated, and its earlier secret. */
  readonly person: string;
  readonly rotated: string;
  readonly replaced: string;
}

interface List {
  readonly data: readonly { readonly id: string }[];
  readonly meta: { readonly total: number };
}

/**
 * `v0.3.sql.gz` is a dump (pg_dump 15, no owners) of a database that `test/lab/upgrade/make.mjs` has filled: 578 logs,
 * 25 deletions, 35 moves to another project, and attributes. Nothing of it may change on the way to this version.
 */
describe('a database of version 0.3', () => {
  const contents = JSON.parse(readFileSync(file('v0.3.json'), 'utf8')) as Contents;
  const { feed, bound, revoked, person, rotated, replaced } = contents;
  const database = useTestDatabase(createTestDatabase);
  const target = useTestDatabase();
  let owner: DataSource;
  let before: Awaited<ReturnType<typeof everything>>;
  let migrated: typeof before;
  let service: ServiceHere;

  beforeAll(async () => {
    await loadVersion03(database);
    owner = await new Source({ type: 'postgres', url: database.url }).initialize();
    before = await everything(owner);
    await owner.query(ZERO_COUNTS);
    expect(await migrate({ url: database.url, migrations })).toEqual(['UpdateTimeLogs1763683200001']);
    service = await startHere({
      DATABASE_URL: database.url,
      ATTRIBUTES_SCHEMA: file('v0.3.attributes.json'),
    });
    // The first request makes the service remove expired keys.
    migrated = await everything(owner);
  });
  afterAll(async () => {
    await service.end();
    await owner.destroy();
  });

  const send = async (path: string, token = contents.token, log?: object) => {
    const target = { port: service.port, token };
    return (await sendUnchecked(target, log ? 'POST' : 'GET', TIME_LOGS + path, log)).body;
  };

  it('has every log, key and token that it had', async () => {
    expect(before.time_logs!.rows).toBe(contents.total);
    expect(Object.values(before).map(({ rows }) => rows)).not.toContain(0);
    expect(migrated).toEqual(before);
  });

  it('returns every log in its feed in the same order, then accepts new ones, and counts them', async () => {
    const eventIds: string[] = [];
    await eventually(async () => {
      const after = eventIds.length > 0 ? `&lastEventId=${eventIds.at(-1)}` : '';
      eventIds.push(...((await send(`/events?limit=500${after}`)) as { id: string }[]).map(({ id }) => id));
      expect(eventIds).toHaveLength(feed.events);
    });
    expect(createHash('sha256').update(eventIds.join()).digest('hex')).toBe(feed.digest);
    const [row] = await owner.query<{ id: string }[]>(
      `insert into time_logs (id, project_id, duration, description, date)
       values ('019a0000-0000-7000-8000-000000000000', gen_random_uuid(), 1, '', '2026-01-31') returning id`,
    );
    await eventually(async () =>
      expect(await send(`/events?lastEventId=${eventIds.at(-1)}`)).toMatchObject([{ data: row }]),
    );
    const log = { projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' };
    expect(await send('', contents.token, log)).toMatchObject({ success: true });
    const counts = new TimeLogCountsCheck(new Database(owner));
    expect(await counts.verify()).toEqual({ logs: contents.total + 2, wrong: 0 });
    await owner.query('delete from time_logs where id = $1 or project_id = $2', [row!.id, log.projectId]);
    expect(await counts.verify()).toEqual({ logs: contents.total, wrong: 0 });
    await owner.query('update time_log_decades set total = total + 1');
    expect(await counts.rebuild()).toBeGreaterThan(0);
    expect(await counts.verify()).toEqual({ logs: contents.total, wrong: 0 });
  });

  it('has a token that is bound to projects still, and refuses one that is revoked or was rotated', async () => {
    const [first = 0, second = 0] = ['1', '2'].map(
      (project) => contents.perProject[`0a000000-0000-4000-8000-00000000000${project}`],
    );
    expect(await send('?limit=1', bound)).toMatchObject({ meta: { total: first + second } });
    expect(await send('?limit=1', rotated)).toMatchObject({ meta: { total: contents.total } });
    for (const refused of [revoked, replaced])
      expect(await send('', refused)).toMatchObject({ error: 'UNAUTHORIZED' });
  });

  it('has a token that is bound to attributes still, and an index for them', async () => {
    const ofAda = await owner.query<{ id: string }[]>(
      `select id from time_logs where attributes ->> 'userId' = 'ada' order by date desc, id desc`,
    );
    const { data, meta } = (await send('?limit=1000', person)) as List;
    expect(data.map(({ id }) => ({ id }))).toEqual(ofAda);
    expect(meta.total).toBe(ofAda.length);
    expect(await send('?limit=1000&attributes.userId=ada')).toMatchObject({ data, meta });
    expect(await send('/events', person)).toMatchObject({ error: 'FORBIDDEN' });
  });

  it('has the exact counts and sums of its logs, and its token is good', async () => {
    expect(await send('?limit=1')).toMatchObject({ success: true, meta: { total: contents.total } });
    const [summed] = await owner.query<{ duration: number }[]>(
      'select sum(duration)::float8 as duration from time_logs',
    );
    expect(await send('/totals?by=month')).toMatchObject({
      meta: { count: contents.total, duration: summed!.duration },
    });
    for (const [projectId, count] of Object.entries(contents.perProject)) {
      expect(await send(`?projectId=${projectId}&limit=1`)).toMatchObject({ meta: { total: count } });
      const [row] = await owner.query<{ duration: number }[]>(
        'select sum(duration)::float8 as duration from time_logs where project_id = $1',
        [projectId],
      );
      expect(await send(`/totals?by=project&projectId=${projectId}`)).toMatchObject({
        data: [{ projectId, count, duration: row!.duration }],
      });
    }
  });

  it('has no counts of zero, which 0.3 has left', async () => {
    const [row] = await owner.query<object[]>(
      `select (select count(*)::integer from time_log_months where total = 0) as months,
              (select count(*)::integer from time_log_decades where total = 0) as decades`,
    );
    expect(row).toEqual({ months: 0, decades: 0 });
  });

  it('is in the backup that it made, whole', async () => {
    const backup = file(`v0.3.backup.gz`);
    expect(await runHere('restore', [backup], { DATABASE_URL: target.url })).toMatchObject({
      code: 0,
      stderr: '',
    });
    await withSql(target.url, async (restored) => expect(await everything(restored)).toEqual(before));
  });
});

it('a database of version 0.3 of a host, in a schema, has the functions of a new one, and right counts', async () => {
  const [database, fresh] = [await createTestDatabase(), await createTestDatabase()];
  const migrateIn = async (url: string) => {
    const options = { url, schema: 'hosted', type: 'postgres', migrations: timeLogMigrations } as const;
    const dataSource = await new Source({ ...options, installExtensions: false }).initialize();
    try {
      await dataSource.runMigrations({ transaction: 'all' });
      expect(await dataSource.runMigrations()).toEqual([]);
      return await new TimeLogCountsCheck(new Database(dataSource)).verify();
    } finally {
      await dataSource.destroy();
    }
  };
  try {
    await loadVersion03(database, 'hosted');
    await queryOnce(fresh.url, 'create schema hosted');
    expect(await migrateIn(database.url)).toEqual({ logs: 578, wrong: 0 });
    expect(await migrateIn(fresh.url)).toEqual({ logs: 0, wrong: 0 });
    const texts = `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'hosted'::regnamespace order by 1`;
    expect(await queryOnce(database.url, texts)).toEqual(await queryOnce(fresh.url, texts));
  } finally {
    await Promise.all([database.drop(), fresh.drop()]);
  }
});

it('the start says so if another instance is connected to a database that it must migrate', async () => {
  const database = await createTestDatabase();
  const other = new Source({ ...plainOptions(database.url), poolSize: 1 });
  try {
    await loadVersion03(database);
    await other.initialize();
    const printed: string[] = [];
    for (let start = 1; start <= 2; start++) {
      const written = { log: '', said: '' };
      const service = await startHere({ DATABASE_URL: database.url }, written);
      await service.end();
      printed.push(...(written.log.match(/an earlier version is connected[^"]*/g) ?? []));
    }
    // The second start has nothing to migrate.
    expect(printed).toEqual([
      'an earlier version is connected to this database (1 connections): stop all its instances, which cannot serve on the new schema',
    ]);
  } finally {
    await other.destroy();
    await database.drop();
  }
});

it('a database of version 0.1 or 0.2 ends the start and npm run migrate in one line', async () => {
  const database = await createTestDatabase();
  try {
    await queryOnce(
      database.url,
      `create table migrations (id serial primary key, timestamp bigint not null, name varchar not null);
       insert into migrations (timestamp, name) values (1763683100000, 'CreateAccessTokens1763683100000'),
         (1763683200000, 'CreateTimeLogs1763683200000'), (1763769600000, 'CreateTimeLogCounts1763769600000')`,
    );
    const settings = { DATABASE_URL: database.url };
    const line =
      'the database schema could not be migrated: the time logs of this database are from version 0.1 or 0.2, which only version 0.3 can update: start 0.3 with it once, stop that, and start this version again';
    expect(await runHere('migrate', [], settings)).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
    await expect(startHere(settings)).rejects.toThrow(line);
    // Nothing is changed, so that 0.3 can still do it.
    expect(
      await queryOnce(database.url, `select tablename from pg_tables where schemaname = 'public'`),
    ).toEqual([{ tablename: 'migrations' }]);
    expect(await queryOnce(database.url, 'select count(*)::integer from migrations')).toEqual([{ count: 3 }]);
  } finally {
    await database.drop();
  }
});
