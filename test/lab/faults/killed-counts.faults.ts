import { beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/database/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { resultOf, useStruckServer, VICTIMS } from './support/strikes.js';

/** Transactions that are open at once, each of which takes a slot. */
const SLOTS = 5;

describe('counts and sums are true', () => {
  const server = useStruckServer();
  let url: string;
  let logs: number;

  beforeEach(async () => {
    url = await server.createMigrated();
    logs = 0;
    await write(500);
  });

  const write = async (more: number) => {
    await withSql(url, (sql) => addRows(sql, logs + 1, logs + more));
    logs += more;
  };
  const wrong = async () => (await firstColumn(url, 'select from time_log_count_differences_v2()')).length;
  const slots = () => firstColumn(url, 'select distinct slot::int from time_log_counts order by 1');
  const expectTruth = async () =>
    expect(await resultOf('counts', ['verify'], url)).toBe(`the counts are right: ${logs} logs\n`);

  it.each(VICTIMS)(
    'after a rebuild whose %s is killed in any statement: it has mended all or nothing, and is run again',
    async (victim) => {
      await queryOnce(url, 'update time_log_counts set total = total + 1, duration = duration + 1');
      const all = await wrong();
      expect(all).toBeGreaterThan(1);
      await server.comeThrough(victim, () => resultOf('counts', ['rebuild'], server.proxy.url(url)), {
        meanwhile: async () => {
          expect([0, all]).toContain(await wrong());
          // Whoever writes between two of them is counted.
          await write(1);
        },
      });
      expect(server.proxy.struck.filter((step) => step.includes('rebuild_time_log_counts'))).toHaveLength(2);
      await expectTruth();
    },
  );

  it.each(VICTIMS)('while slots are folded and the %s is killed in any statement of that', async (victim) => {
    const writers = await Promise.all(Array.from({ length: SLOTS }, () => connected(url)));
    for (const writer of writers) {
      await writer.query('begin');
      await writer.query(
        `insert into time_logs (id, project_id, duration, description, date)
           values (overlay(gen_random_uuid()::text placing '7' from 15)::uuid, gen_random_uuid(), 0.1, '', '2026-01-31')`,
      );
    }
    for (const writer of writers) {
      await writer.query('commit');
      await writer.end();
    }
    logs += SLOTS;
    const before = await slots();
    expect(before).toHaveLength(SLOTS);
    // As a service does it behind its creates.
    const fold = () =>
      withSql(server.proxy.url(url), (sql) =>
        new Database(sql).change(`select fold_time_log_counts(1000) as folded`),
      );
    await server.comeThrough(victim, fold, {
      meanwhile: async () => {
        expect(await wrong()).toBe(0);
        expect([before, [0]]).toContainEqual(await slots());
      },
    });
    expect(server.proxy.struck.filter((step) => step.includes('fold_time_log_counts'))).toHaveLength(2);
    expect(await slots()).toEqual([0]);
    await expectTruth();
  });
});
