import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { eventually } from '../../support/eventually.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { serve } from './support/serve.js';
import { useCluster } from './support/use-cluster.js';

type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

const TABLES = [
  ...['time_logs', 'time_log_keys', 'time_log_deletions', 'time_log_relays', 'access_tokens'],
  ...['time_log_months', 'time_log_decades', 'time_log_changes', 'time_log_folds'],
];
const FOLD = 'select fold_time_log_counts(8192) as folded';
const WAITING = 'select id from time_log_changes order by xid, id';
/** Inserts logs by one statement. */
const insertion = (logs: number) =>
  `insert into time_logs (id, project_id, duration, description, date)
   select overlay(gen_random_uuid()::text placing '7' from 15)::uuid, '0a000000-0000-4000-8000-000000000001', 0.1, '',
          date '2026-01-31' + n % 40 from generate_series(1, ${logs}) n`;

/**
 * All tables of a service are published, and another server subscribes to them, on which nobody else writes. PostgreSQL
 * applies the changes row by row, and runs no triggers on statements there (Logical Replication, Architecture).
 */
describe('a logical replica', () => {
  const clusters = [useCluster({ wal_level: 'logical' }), useCluster({ wal_level: 'logical' })] as const;
  let source: string;
  let replica: string;
  let number = 0;

  beforeEach(async () => {
    [source, replica] = [await clusters[0].createDatabase(), await clusters[1].createDatabase()];
    await Promise.all([source, replica].map((url) => migrate({ url, migrations })));
    number += 1;
  });

  const onSource: Ask = (sql) => queryOnce(clusters[0].asSuperuser(source), sql);
  const onReplica: Ask = (sql) => queryOnce(clusters[1].asSuperuser(replica), sql);
  /** Makes the next transactions of a server have higher numbers than those of the other. */
  const useUp = async (ask: Ask, other: Ask) => {
    const [row] = await other('select (pg_current_xact_id()::text::bigint + 2000)::text as next');
    await ask(
      `do $$ begin while pg_current_xact_id()::text::bigint < ${String(row!.next)} loop commit; end loop; end $$`,
    );
  };
  const subscribe = async () => {
    await onSource(`create publication logs_${number} for table ${TABLES.join()}`);
    const database = new URL(source).pathname.slice(1);
    await onReplica(
      `create subscription logs_${number}
         connection 'host=${dirname(clusters[0].socket)} user=postgres dbname=${database}' publication logs_${number}`,
    );
    await eventually(async () =>
      expect(await onReplica(`select from pg_subscription_rel where srsubstate <> 'r'`)).toEqual([]),
    );
  };
  const caughtUp = async () => {
    const [row] = await onSource('select pg_current_wal_lsn()::text as lsn');
    const done = `application_name = 'logs_${number}' and replay_lsn >= '${String(row!.lsn)}'`;
    await eventually(async () =>
      expect(await onSource(`select from pg_stat_replication where ${done}`)).toHaveLength(1),
    );
  };
  const expectTrueCounts = async () =>
    expect(await onReplica('select * from time_log_count_faults()')).toEqual([]);

  it.each([
    ['ahead of', onSource, onReplica],
    ['behind', onReplica, onSource],
  ])(
    'has true counts at every moment, and folds none before it takes the place of a source that is %s it',
    async (_where, ahead, behind) => {
      await useUp(ahead, behind);
      await onSource(insertion(500));
      await onSource(FOLD);
      await subscribe();
      for (let round = 0; round < 20; round++) {
        await onSource(insertion(12));
        await onSource('update time_logs set duration = 2 where id in (select id from time_logs limit 4)');
        await onSource('delete from time_logs where id in (select max(id::text)::uuid from time_logs)');
        await expectTrueCounts();
      }
      // More than one fold takes, by one statement each.
      for (const logs of [4_000, 4_000, 5_000]) await onSource(insertion(logs));
      await caughtUp();
      expect(await onReplica(FOLD)).toEqual([{ folded: 0 }]);
      expect(await onReplica(WAITING)).toEqual(await onSource(WAITING));
      // The replica takes the place of the source: nobody writes there any more.
      await onReplica(`drop subscription logs_${number}`);
      await expectTrueCounts();
      // Positions of the feed move before anybody writes by SQL.
      await serve(replica);
      await onReplica(`begin; ${insertion(4_000)}; ${insertion(4_000)}; commit`);
      await onReplica(insertion(5_000));
      for (let folded = 1; folded > 0;) {
        [{ folded }] = (await onReplica(FOLD)) as [{ folded: number }];
        await expectTrueCounts();
      }
      expect(await onReplica(WAITING)).toEqual([]);
      // The fold of this server is the one that readers go by.
      expect(await onReplica('select from time_log_folds where xmin::text = xid::text')).toHaveLength(1);
    },
  );
});
