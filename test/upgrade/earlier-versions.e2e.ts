import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import { withSql } from '../support/backup-rows.js';
import { Database, DataSource as Source, migrate, migrations, TimeLogCounts } from '../support/compiled.js';
import { expectedItem, type Made } from '../support/expected-logs.js';
import { runHere } from '../support/commands-here.js';
import { useTestDatabase } from '../support/fixtures.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { type ServiceHere, startHere } from '../support/service-here.js';
import { createTestDatabase } from '../support/test-database.js';
import { everything, loadVersion } from './earlier-version.js';

const file = (name: string) => join(import.meta.dirname, name);

/** The contents of the database, as the version reported them. */
interface Contents {
  readonly token: string;
  readonly total: number;
  readonly perProject: Readonly<Record<string, number>>;
  /** The ids of the events in its feed. Version 0.1 had none. */
  readonly feed?: { readonly events: number; readonly digest: string };
  /** A token for the first two projects, and one that is revoked. */
  readonly bound?: string;
  readonly revoked?: string;
  /** A token for the logs of Ada; one that was rotated, and its earlier secret. */
  readonly person?: string;
  readonly rotated?: string;
  readonly replaced?: string;
}

interface List {
  readonly data: readonly { readonly id: string }[];
  readonly meta: { readonly total: number };
}

/**
 * `v0.N.sql.gz` is a dump (pg_dump 15, no owners) of a database that a version made and filled over HTTP; some logs
 * were corrected and some deleted, by SQL too. Nothing of it may change on the way to this version. Of 0.1 (commit
 * 2579204) that were 598 logs, of 0.2 624 and 31 deletions, some of them at a broker. From 0.3 on they are made by
 * `test/lab/upgrade/make.mjs`: 578 logs, 25 deletions, 35 moves to another project, and attributes.
 */
describe.each(['0.1', '0.2', '0.3'] as const)('a database of version %s', (version) => {
  const contents = JSON.parse(readFileSync(file(`v${version}.json`), 'utf8')) as Contents;
  const { feed, bound, revoked, person, rotated, replaced } = contents;
  const schema = file(`v${version}.attributes.json`);
  afterAll(async () => {
    await service.end();
    await owner.destroy();
  });
  const database = useTestDatabase(createTestDatabase);
  const target = useTestDatabase();
  let owner: DataSource;
  let before: Awaited<ReturnType<typeof everything>>;
  let migrated: typeof before;
  let service: ServiceHere;

  beforeAll(async () => {
    await loadVersion(version, database);
    owner = await new Source({ type: 'postgres', url: database.url }).initialize();
    before = await everything(owner, version);
    await migrate({ url: database.url, migrations });
    service = await startHere({
      DATABASE_URL: database.url,
      ...(existsSync(schema) && { ATTRIBUTES_SCHEMA: schema }),
    });
    // The first request makes the service remove expired keys.
    migrated = await everything(owner, version);
  });

  const send = async (path: string, init: RequestInit = {}, token = contents.token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(`${service.url}/api/v1/time-logs${path}`, { ...init, headers })).json();
  };

  it('has every log, key and token that it had', async () => {
    expect(before.time_logs!.rows).toBe(contents.total);
    expect(Object.values(before).map(({ rows }) => rows)).not.toContain(0);
    expect(migrated).toEqual(before);
  });

  it('has its totals, and its token is good', async () => {
    expect(await send('?limit=1')).toMatchObject({ success: true, meta: { total: contents.total } });
    for (const [project, total] of Object.entries(contents.perProject)) {
      expect(await send(`?projectId=${project}&limit=1`)).toMatchObject({ meta: { total } });
    }
  });

  it('lists every log once, in the order of its table', async () => {
    const listed: unknown[] = [];
    for (let page = 1; page <= Math.ceil(contents.total / 50); page++) {
      listed.push(...((await send(`?page=${page}`)) as { data: unknown[] }).data);
    }
    const columns = existsSync(schema) ? 'attributes' : 'null as attributes';
    const rows = await owner.query<
      (Made & { projectId: string; attributes: Record<string, unknown> | null })[]
    >(
      `select id, project_id as "projectId", duration::float8 as duration, description, ${columns},
                to_char(to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)
                          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
           from time_logs order by date desc, id desc`,
    );
    expect(listed).toEqual(
      rows.map(({ attributes, ...row }) => expectedItem({ ...row, ...(attributes && { attributes }) }, row)),
    );
  });

  it('returns every log in its feed in the same order, then accepts new ones, and counts them', async () => {
    const eventIds: string[] = [];
    await eventually(async () => {
      const after = eventIds.length > 0 ? `&lastEventId=${eventIds.at(-1)}` : '';
      eventIds.push(...((await send(`/events?limit=500${after}`)) as { id: string }[]).map(({ id }) => id));
      expect(eventIds).toHaveLength(feed?.events ?? contents.total);
    });
    const ids = eventIds.map((id) => id.slice(id.indexOf('-') + 1));
    if (feed) expect(createHash('sha256').update(eventIds.join()).digest('hex')).toBe(feed.digest);
    else expect(ids).toEqual(ids.toSorted());
    // As an instance of version 0.1 writes it, which may run at the same time.
    const [row] = await owner.query<{ id: string }[]>(
      `insert into time_logs (id, project_id, duration, description, date)
       values ('019a0000-0000-7000-8000-000000000000', gen_random_uuid(), 1, '', '2026-01-31') returning id`,
    );
    await eventually(async () =>
      expect(await send(`/events?lastEventId=${eventIds.at(-1)}`)).toMatchObject([{ data: row }]),
    );
    const log = { projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' };
    expect(await send('', { method: 'POST', body: JSON.stringify(log) })).toMatchObject({ success: true });
    const counts = new TimeLogCounts(new Database(owner));
    expect(await counts.verify()).toEqual({ logs: contents.total + 2, wrong: 0 });
    await owner.query('delete from time_logs where id = $1 or project_id = $2', [row!.id, log.projectId]);
    expect(await counts.verify()).toEqual({ logs: contents.total, wrong: 0 });
    await owner.query('update time_log_decades set total = total + 1');
    expect(await counts.rebuild()).toBeGreaterThan(0);
    expect(await counts.verify()).toEqual({ logs: contents.total, wrong: 0 });
  });

  if (bound !== undefined && revoked !== undefined)
    it('has a token that is bound to projects still, and one that is revoked', async () => {
      const [first = 0, second = 0] = ['1', '2'].map(
        (project) => contents.perProject[`0a000000-0000-4000-8000-00000000000${project}`],
      );
      expect(await send('?limit=1', {}, bound)).toMatchObject({ meta: { total: first + second } });
      expect(await send('', {}, revoked)).toMatchObject({ error: 'UNAUTHORIZED' });
    });

  if (person !== undefined)
    it('has a token that is bound to attributes still, and an index for them', async () => {
      const ofAda = await owner.query<{ id: string }[]>(
        `select id from time_logs where attributes ->> 'userId' = 'ada' order by date desc, id desc`,
      );
      const { data, meta } = (await send('?limit=1000', {}, person)) as List;
      expect(data.map(({ id }) => ({ id }))).toEqual(ofAda);
      expect(meta.total).toBe(ofAda.length);
      expect(await send('?limit=1000&attributes.userId=ada')).toMatchObject({ data, meta });
      expect(await send('/events', {}, person)).toMatchObject({ error: 'FORBIDDEN' });
    });

  if (rotated !== undefined)
    it('has a token that was rotated, and refuses its earlier secret', async () => {
      expect(await send('?limit=1', {}, rotated)).toMatchObject({ meta: { total: contents.total } });
      expect(await send('', {}, replaced)).toMatchObject({ error: 'UNAUTHORIZED' });
    });

  it('has the exact sums of its durations', async () => {
    const [summed] = await owner.query<{ duration: number }[]>(
      'select sum(duration)::float8 as duration from time_logs',
    );
    expect(await send('/totals?by=month')).toMatchObject({
      meta: { count: contents.total, duration: summed!.duration },
    });
    for (const [projectId, count] of Object.entries(contents.perProject)) {
      const [row] = await owner.query<{ duration: number }[]>(
        'select sum(duration)::float8 as duration from time_logs where project_id = $1',
        [projectId],
      );
      expect(await send(`/totals?by=project&projectId=${projectId}`)).toMatchObject({
        data: [{ projectId, count, duration: row!.duration }],
      });
    }
  });

  it('has the functions of a new database, and its owner can restore them from a dump', async () => {
    const texts = `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'public'::regnamespace order by 1`;
    const functions = await owner.query<{ text: string }[]>(texts);
    expect(functions.length).toBeGreaterThan(0);
    expect(functions).toEqual(await queryOnce(target.url, texts));
    for (const { text } of functions) await owner.query(text);
  });

  if (version !== '0.1')
    it('is in the backup that it made, whole', async () => {
      const backup = file(`v${version}.backup.gz`);
      expect(await runHere('restore', [backup], { DATABASE_URL: target.url })).toMatchObject({
        code: 0,
        stderr: '',
      });
      await withSql(target.url, async (restored) =>
        expect(await everything(restored, version)).toEqual(before),
      );
    });
});
