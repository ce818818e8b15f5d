import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrations } from '../../src/app.module.js';
import { migrate } from '../../src/database-setup/index.js';
import { Database } from '../../src/database/index.js';
import { TimeLogCounts } from '../../src/time-log/index.js';
import { eventually } from '../faults/support/eventually.js';
import { functionsIn } from '../support/count-functions.js';
import { expectedItem, type Made } from '../support/expected-logs.js';
import { type ServiceHere, startHere } from '../support/service-here.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { everything, loadVersion01 } from './version-0.1.js';

const file = (name: string) => join(import.meta.dirname, name);

/** What version 0.1 said of its database. */
interface Contents {
  readonly token: string;
  readonly total: number;
  readonly perProject: Readonly<Record<string, number>>;
}

/**
 * `v0.1.sql.gz` is a dump (pg_dump 15, no owners) of a database that version 0.1 (commit 2579204) made and filled over
 * HTTP; some logs were corrected and some deleted by SQL. Nothing of it may change on the way to this version.
 */
describe('a database of version 0.1', () => {
  let contents: Contents;
  let database: TestDatabase;
  let owner: DataSource;
  let before: unknown;
  let service: ServiceHere;

  beforeAll(async () => {
    contents = JSON.parse(await readFile(file('v0.1.json'), 'utf8')) as Contents;
    database = await createTestDatabase();
    await loadVersion01(database);
    owner = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    before = await everything(owner);
    await migrate({ url: database.url, migrations });
    service = await startHere({ DATABASE_URL: database.url });
  }, 300_000);
  afterAll(async () => {
    await service.end();
    await owner.destroy();
    await database.drop();
  });

  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${contents.token}`, 'content-type': 'application/json' };
    return (await fetch(`${service.url}/api/v1/time-logs${path}`, { ...init, headers })).json();
  };

  it('has every log, key and token that it had', async () => {
    expect(before).toMatchObject({ time_logs: { rows: contents.total }, time_log_keys: { rows: 200 } });
    expect(await everything(owner)).toEqual(before);
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
    const rows = await owner.query<(Made & { projectId: string })[]>(
      `select id, project_id as "projectId", duration::float8 as duration, description,
                to_char(to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)
                          at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
           from time_logs order by date desc, id desc`,
    );
    expect(listed).toEqual(rows.map((row) => expectedItem(row, row)));
  });

  it('tells every log in its feed, by their ids, and new ones after them', async () => {
    const ids: string[] = [];
    let last = '';
    const readOn = () =>
      eventually(async () => {
        const events = (await send(`/events?limit=500${last && `&lastEventId=${last}`}`)) as { id: string }[];
        last = events.at(-1)?.id ?? last;
        ids.push(...events.map(({ id }) => id.slice(id.indexOf('-') + 1)));
        expect(ids).toHaveLength(contents.total);
      });
    await readOn();
    expect(ids).toEqual(ids.toSorted());
    // As an instance of version 0.1 writes it, which may run beside this one.
    const [row] = await owner.query<{ id: string }[]>(
      `insert into time_logs (id, project_id, duration, description, date)
       values ('019a0000-0000-7000-8000-000000000000', gen_random_uuid(), 1, '', '2026-01-31') returning id`,
    );
    await eventually(async () =>
      expect(await send(`/events?lastEventId=${last}`)).toMatchObject([{ data: row }]),
    );
    await owner.query('delete from time_logs where id = $1', [row!.id]);
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

  it('has the functions of a new database', async () => {
    const { existing, newest, created } = await functionsIn(owner);
    expect(existing).toEqual(newest);
    expect(Object.keys(existing)).toEqual(created);
  });

  it('has functions that its owner can restore from a dump, which those of version 0.1 kept to a superuser', async () => {
    const functions = await owner.query<{ text: string }[]>(
      `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'public'::regnamespace`,
    );
    expect(functions.length).toBeGreaterThan(0);
    for (const { text } of functions) await owner.query(text);
  });

  it('takes new logs, which are counted, and counts that are right', async () => {
    const log = { projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' };
    expect(await send('', { method: 'POST', body: JSON.stringify(log) })).toMatchObject({ success: true });
    const counts = new TimeLogCounts(new Database(owner));
    expect(await counts.verify()).toEqual({ logs: contents.total + 1, wrong: 0 });
    await owner.query('delete from time_logs where project_id = $1', [log.projectId]);
    expect(await counts.verify()).toEqual({ logs: contents.total, wrong: 0 });
    await owner.query('update time_log_counts set total = total + 1 where width = 4096');
    expect(await counts.rebuild()).toBeGreaterThan(0);
    expect(await counts.verify()).toEqual({ logs: contents.total, wrong: 0 });
  });
});
