import { beforeAll, describe, expect, it } from '@jest/globals';
import { type DataSource, untilWaiting, useDatabase } from '../support/storage.js';

const LOGS = `
  insert into time_logs (id, project_id, duration, description, date)
  select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '11111111-1111-1111-1111-111111111111',
         n, 'work', date '2026-01-01' + n from generate_series(1, 9) n`;

describe('the functions of counts and pages', () => {
  const database = useDatabase({ poolSize: 1 });
  /** A DataSource with one session, which keeps its plans. */
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = database);
    await dataSource.query(LOGS);
  });

  it('give the same pages after a column was added, also to a session that has called them before', async () => {
    const pages = () =>
      dataSource.query<unknown[]>(
        'select total, (log).id, (log).project_id, (log).duration, (log).description from page_time_logs(null, null, null, 3, 4)',
      );
    // PostgreSQL plans a statement again after five executions.
    let before = await pages();
    for (let i = 0; i < 6; i++) before = await pages();
    expect(before).toHaveLength(5);
    await dataSource.query('alter table time_logs add column later boolean not null default true');
    expect(await pages()).toEqual(before);
    expect(await dataSource.query('select (log).later from page_time_logs(null, null, null, 0, 1)')).toEqual([
      { later: null },
      { later: true },
    ]);
    await dataSource.query('alter table time_logs drop column later');
    expect(await pages()).toEqual(before);
  });

  it('give a page also to a statement that waits while a column is added', async () => {
    const writing = await database.open({ poolSize: 3 });
    const page = () =>
      writing.query<object[]>(
        'select total, (log).id, (log).duration from page_time_logs(null, null, null, 0, 4)',
      );
    const before = await page();
    const migrating = await database.transaction(undefined, writing);
    await migrating.query('alter table time_logs add column later boolean not null default true');
    const waiting = page();
    await untilWaiting(dataSource);
    await migrating.commitTransaction();
    expect(await waiting).toEqual(before);
    await dataSource.query('alter table time_logs drop column later');
  });
});
