import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../eventually.js';
import { ask } from './support/ask.js';
import { eventsAfter, logOf, record } from './support/feed.js';
import { serve } from './support/serve.js';
import { underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Transactions that are open at the same time, and logs that each of them writes. */
const TRANSACTIONS = 60;
const LOGS = 200;

describe('a service beside many long transactions', () => {
  const postgres = useCluster({ max_prepared_transactions: '2' });

  it('serves while they are open, and lists read no more than before when they have ended', () =>
    underWrites({ database: postgres }, async (scene) => {
      const { url } = scene;
      const few = await writeAtOnce(1, url, () => scene.writers.acknowledge(100));
      const many = await writeAtOnce(TRANSACTIONS, url, () => scene.writers.acknowledge(100));
      expect(many).toBeGreaterThan((few * TRANSACTIONS) / 4);
      // A process begins a sweep with its first create, and another a minute later.
      await scene.service.end();
      await scene.restart();
      await scene.writers.acknowledge(1);
      await eventually(async () => expect(await countsOfAll(url)).toBeLessThan(3 * few));
      expect(await ask(`${scene.service.url}/api/v1/time-logs?to=2020-01-31`)).toMatchObject({ status: 200 });
      await queryOnce(url, `delete from time_logs where description = 'long'`);
    }));

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

/**
 * Writes logs of ten years in so many transactions, which end when the act is done; how many counts a list then
 * reads.
 */
async function writeAtOnce(transactions: number, url: string, act: () => Promise<unknown>): Promise<number> {
  const open: pg.Client[] = [];
  try {
    for (let number = 1; number <= transactions; number++) {
      const client = await connected(url);
      open.push(client);
      await client.query('begin');
      await client.query(
        `insert into time_logs (id, project_id, duration, description, date)
         select ('019c1370-4e1b-7000-8000-' || substr(md5($1::text || ' ' || n), 1, 12))::uuid,
                ('00000000-0000-4000-8000-' || lpad((n % 10)::text, 12, '0'))::uuid, 1, 'long', date '2016-01-01' + n * 3650 / $2
           from generate_series(1, $2::integer) n`,
        [number * transactions, LOGS],
      );
    }
    await act();
    for (const client of open) await client.query('commit');
  } finally {
    await Promise.all(open.map((client) => client.end()));
  }
  return countsOfAll(url);
}

/** Rows that lists of all projects sum up. */
async function countsOfAll(url: string): Promise<number> {
  return (await firstColumn(url, 'select slot from time_log_counts where of_all')).length;
}
