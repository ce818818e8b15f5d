import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { ask } from './support/ask.js';
import { eventually } from '../eventually.js';
import { eventsAfter, logOf, record } from './support/feed.js';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { serve } from './support/serve.js';
import { underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Transactions that are open at the same time, and logs that each of them writes. */
const TRANSACTIONS = 60;
const LOGS = 200;

/** Logs that wait, at most, while an old snapshot is held: what a fold would remove is still seen there. */
const MOST_WAITING = 8_192;
/** Statements of 1,000 logs, more than may wait. */
const STATEMENTS = 80;
/** What a transaction sees of counts, with its logs. */
const SEEN = `select n::text, n = (select count(*) from time_logs) as "isRight" from sum_time_logs(null, null, null)`;
/** Inserts logs of ten years; $1 and $2 are the first of their numbers and how many there are. */
const insertion = (spread: number) =>
  `insert into time_logs (id, project_id, duration, description, date)
   select ('019c1370-4e1b-7000-8000-' || substr(md5($1::text || ' ' || n), 1, 12))::uuid,
          ('00000000-0000-4000-8000-' || lpad((n % 10)::text, 12, '0'))::uuid, 1, 'long', date '2016-01-01' + n * 3650 / ${spread}
     from generate_series(1, $2::integer) n`;

describe('a service beside many long transactions', () => {
  const postgres = useCluster({ max_prepared_transactions: '2' });

  it('serves while they are open, and folds what they have changed when they have ended', async () => {
    const url = await postgres.createDatabase();
    await underWrites({ database: url }, async (scene) => {
      await writeAtOnce(TRANSACTIONS, url, () => scene.writers.acknowledge(100));
      await scene.writers.acknowledge(1);
      await eventually(async () =>
        expect(await waiting(url, `and projects[1]::text like '00000000-0000-4000-8000-%'`)).toBe(0),
      );
      expect(await ask(`${scene.service.url}/api/v1/time-logs?to=2020-01-31`)).toMatchObject({ status: 200 });
      await queryOnce(url, `delete from time_logs where description = 'long'`);
    });
  });

  it.each([
    ['reads', 'select from time_logs'],
    ['writes', insertion(200)],
  ])(
    'counts right, waits for nothing and folds as much as it must while a transaction %s',
    async (_does, act) => {
      const url = await postgres.createDatabase();
      const service = await serve(url);
      await record(service);
      const holder = await connected(url);
      const waits: unknown[] = [];
      const watch = async () =>
        void waits.push(
          ...(await queryOnce(url, `select query from pg_stat_activity where wait_event_type = 'Lock'`)),
        );
      try {
        await holder.query('begin isolation level repeatable read');
        await holder.query(act, act.includes('$1') ? [0, 200] : []);
        const seen = async () => (await holder.query<{ n: string }>(SEEN)).rows[0];
        const before = await seen();
        expect(before).toMatchObject({ isRight: true });
        for (let statement = 1; statement <= STATEMENTS; statement++) {
          await queryOnce(url, insertion(1_000), [statement * 1_000, 1_000]);
          if (statement % 10 > 0) continue;
          await record(service);
          await watch();
          expect(await queryOnce(url, 'select * from time_log_count_faults()')).toEqual([]);
          expect(await seen()).toEqual(before);
        }
        await eventually(async () => {
          await watch();
          await record(service);
          expect(await waiting(url)).toBeLessThan(MOST_WAITING);
        });
        expect(await seen()).toEqual(before);
        await holder.query('commit');
        await eventually(async () => {
          await record(service);
          // What was recorded since the last fold.
          expect(await waiting(url)).toBeLessThan(100);
        });
        expect(await queryOnce(url, 'select * from time_log_count_faults()')).toEqual([]);
        expect(waits).toEqual([]);
      } finally {
        await holder.end();
      }
    },
  );

  it('tells nothing of what was recorded after transactions that are prepared, and their logs in their place', async () => {
    const [url, elsewhere] = [await postgres.createDatabase(), await postgres.createDatabase()];
    const service = await serve(url);
    const told = async () => (await eventsAfter(service)).map(logOf);
    const first = await record(service);
    await eventually(async () => expect(await told()).toEqual([first]));
    // The horizon is that of the whole server.
    await queryOnce(elsewhere, `begin; select pg_current_xact_id(); prepare transaction 'elsewhere'`);
    const prepared = '019c1370-4e1b-7000-8000-000000000001';
    await queryOnce(
      url,
      `begin;
       insert into time_logs (id, project_id, duration, description, date)
       values ('${prepared}', '${prepared}', 1, 'prepared', '2026-01-31');
       prepare transaction 'here'`,
    );
    const later = [await record(service), await record(service)];
    expect(await told()).toEqual([first]);
    // They outlive the server.
    await postgres.end('SIGINT');
    await postgres.start();
    await eventually(async () => expect(await told()).toEqual([first]));
    await queryOnce(url, `commit prepared 'here'`);
    expect(await told()).toEqual([first]);
    await queryOnce(elsewhere, `rollback prepared 'elsewhere'`);
    await eventually(async () => expect(await told()).toEqual([first, prepared, ...later]));
  });
});

/** Writes logs of ten years in so many transactions, which end when the act is done. */
async function writeAtOnce(transactions: number, url: string, act: () => Promise<unknown>): Promise<void> {
  const open: pg.Client[] = [];
  try {
    for (let number = 1; number <= transactions; number++) {
      const client = await connected(url);
      open.push(client);
      await client.query('begin');
      await client.query(insertion(LOGS), [number * LOGS, LOGS]);
    }
    await act();
    for (const client of open) await client.query('commit');
  } finally {
    await Promise.all(open.map((client) => client.end()));
  }
}

/** How many changed logs wait for a fold: each list sums them up. */
async function waiting(url: string, and = ''): Promise<number> {
  const [logs] = await firstColumn(
    url,
    `select coalesce(sum(abs(total)), 0)::integer from time_log_changes where true ${and}`,
  );
  return logs as number;
}
