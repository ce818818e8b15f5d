import { beforeAll, describe, expect, it } from '@jest/globals';
import { functionsIn } from '../support/count-functions.js';
import { type DataSource, untilWaiting, useDatabase } from '../support/storage.js';

const LOGS = `
  insert into time_logs (id, project_id, duration, description, date)
  select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '11111111-1111-1111-1111-111111111111',
         n, 'work', date '2026-01-01' + n from generate_series(1, 9) n`;

describe('the functions of counts and pages', () => {
  const database = useDatabase({ poolSize: 1 });
  /** Of one session, which keeps the plans that it has made. */
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = database);
    await dataSource.query(LOGS);
  });

  it('count and find pages as the README of their folder shows', async () => {
    const runner = await database.transaction();
    await runner.query('truncate time_logs');
    await runner.query(`
      insert into time_logs (id, project_id, duration, description, date)
      select ('019c1370-4e1b-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '0a000000-0000-4000-8000-000000000001', 1, '',
             case when n <= 2 then date '2026-01-31' else '2026-02-01' end from generate_series(1, 5) n`);
    const row = { slot: 0, total: '5' };
    const block = { width: 32, first: '2026-01-01', days: [...Array<null>(30).fill(null), 2, 3] };
    const span = { width: 4096, first: '2019-08-10', days: null };
    expect(
      await runner.query(
        'select of_all, width, first_day::text as first, slot, total, days from time_log_counts order by 1, 2',
      ),
    ).toEqual([false, true].flatMap((of_all) => [block, span].map((kind) => ({ of_all, ...kind, ...row }))));
    expect(await runner.query(`select time_logs_since(null, '2026-02-01') as total`)).toEqual([
      { total: '3' },
    ]);
    expect(await runner.query(`select time_logs_between(null, null, '2026-01-31') as total`)).toEqual([
      { total: '2' },
    ]);
    expect(
      await runner.query('select total, (log).id from time_log_page_v2(null, null, null, 4, 4)'),
    ).toEqual([
      { total: '5', id: null },
      { total: null, id: '019c1370-4e1b-7000-8000-000000000001' },
    ]);
  });

  it('are those of the newest texts', async () => {
    const { existing, newest, created } = await functionsIn(dataSource);
    expect(existing).toEqual(newest);
    expect(Object.keys(existing)).toEqual(created);
  });

  it('would not be where a text were another', async () => {
    await dataSource.query(
      `create or replace function time_logs_since(project uuid, day date) returns bigint stable language sql as 'select 1'`,
    );
    const { existing, newest } = await functionsIn(dataSource);
    expect(existing).not.toEqual(newest);
    await dataSource.query(newest['"public"."time_logs_since"']!);
  });

  it('give the same pages after a column was added, also to a session that has called them before', async () => {
    const pages = async () => ({
      v1: await dataSource.query<unknown[]>('select * from time_log_page(null, null, null, 3, 4)'),
      v2: await dataSource.query<unknown[]>(
        'select total, (log).id, (log).project_id, (log).duration, (log).description from time_log_page_v2(null, null, null, 3, 4)',
      ),
    });
    // PostgreSQL plans anew when it has seen a statement five times.
    let before = await pages();
    for (let i = 0; i < 6; i++) before = await pages();
    expect(before.v1).toHaveLength(5);
    await dataSource.query('alter table time_logs add column later boolean not null default true');
    expect(await pages()).toEqual(before);
    expect(
      await dataSource.query('select (log).later from time_log_page_v2(null, null, null, 0, 1)'),
    ).toEqual([{ later: null }, { later: true }]);
    await dataSource.query('alter table time_logs drop column later');
    expect(await pages()).toEqual(before);
  });

  it('give a page also to a statement that waits while a column is added', async () => {
    const writing = await database.open({ poolSize: 3 });
    const page = () =>
      writing.query<object[]>(
        'select total, (log).id, (log).duration from time_log_page_v2(null, null, null, 0, 4)',
      );
    const before = await page();
    const migrating = await database.transaction(undefined, writing);
    await migrating.query('alter table time_logs add column later boolean not null default true');
    const waiting = page();
    await untilWaiting(dataSource);
    await migrating.commitTransaction();
    expect(await waiting).toEqual(before);
  });
});
