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

  it('of version 0.2 answer as those of now, to an instance that is yet to be replaced', async () => {
    const project = '11111111-1111-1111-1111-111111111111';
    const [from, to] = ['2026-01-03', '2026-01-08'];
    for (const [old, current, ...values] of [
      ['time_log_sum', 'sum_time_logs', project, from, to],
      ['time_log_sum_of', 'sum_time_logs', [project], from, to],
      ['time_log_project_sums', 'page_time_log_project_sums', undefined, from, to, 0, 5],
      ['time_log_project_sums_of', 'page_time_log_project_sums', [project], from, to, 0, 5],
      ['time_log_period_sums', 'page_time_log_group_sums', project, from, to, 'day', 1, 2],
      ['time_log_period_sums_of', 'page_time_log_group_sums', [project], from, to, 'day', 1, 2],
      ['time_log_page_v2', 'page_time_logs', project, from, to, 1, 2],
      ['time_log_page_of', 'page_time_logs', [project], from, to, 1, 2],
    ] as const) {
      const answer = (name: string, [scope, ...rest]: readonly unknown[]) => {
        const parameters = [...(scope === undefined ? [] : [scope]), ...rest];
        const places = parameters.map((_, index) => `$${index + 1}`).join();
        const columns = name.includes('group_sums') ? 'n, duration, groups, first_day, last_day' : '*';
        return dataSource.query<object[]>(`select ${columns} from ${name}(${places})`, parameters);
      };
      const [scope, ...rest] = values;
      const rows = await answer(old, values);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows).toEqual(await answer(current, [scope === undefined ? null : [scope].flat(), ...rest]));
    }
    expect(await dataSource.query(`select time_logs_since($1, '2026-01-05') as n`, [project])).toEqual([
      { n: '6' },
    ]);
    expect(await dataSource.query('select from time_log_count_differences_v2()')).toEqual([]);
  });
});
