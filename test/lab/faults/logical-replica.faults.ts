import { beforeEach, describe, expect, it } from '@jest/globals';
import { type RecordedTimeLog, TimeLogClient } from '@time-logs/client';
import { dirname } from 'node:path';
import { newToken } from '../../../src/access-token/access-token.js';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { startService } from '../../support/service-process.js';
import { eventually } from '../eventually.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { storeToken } from '../tokens.js';
import { useCluster } from './support/use-cluster.js';

const TOKEN = newToken();
const LOGS = ['time_logs', 'time_log_keys', 'time_log_deletions', 'time_log_relays', 'access_tokens'];
const COUNTS = ['time_log_months', 'time_log_decades', 'time_log_changes', 'time_log_folds'];
const FOLD = 'select fold_time_log_counts(8192) as folded';
const WAITING = 'select id from time_log_changes order by xid, id';

/**
 * Tables of a service are published, and another server subscribes to them, on which nobody else writes. PostgreSQL
 * applies the changes row by row: of the triggers there it runs those that are enabled always, and of them none that is
 * on statements, but for the first copy of a table (Logical Replication, Architecture).
 */
describe('a logical replica', () => {
  const clusters = [useCluster({ wal_level: 'logical' }), useCluster({ wal_level: 'logical' })] as const;
  let source: string;
  let replica: string;
  let number = 0;
  let keys = 0;

  beforeEach(async () => {
    [source, replica] = [await clusters[0].createDatabase(), await clusters[1].createDatabase()];
    await Promise.all([source, replica].map((url) => migrate({ url, migrations })));
    number += 1;
    await storeToken(source, { token: TOKEN });
  });

  const onSource: Ask = (sql) => queryOnce(clusters[0].asSuperuser(source), sql);
  const onReplica: Ask = (sql) => queryOnce(clusters[1].asSuperuser(replica), sql);

  /** Makes the next transactions of a server have higher numbers than those of the other. */
  const useUp = async (ask: Ask, other: Ask) => {
    const [{ next }] = (await other('select pg_current_xact_id()::text::bigint + 2000 as next')) as [
      { next: string },
    ];
    await ask(`do $$ begin while pg_current_xact_id()::text::bigint < ${next} loop commit; end loop; end $$`);
  };
  const subscribe = async (tables: readonly string[]) => {
    await onSource(`create publication logs_${number} for table ${tables.join()}`);
    const database = new URL(source).pathname.slice(1);
    await onReplica(
      `create subscription logs_${number}
         connection 'host=${dirname(clusters[0].socket)} user=postgres dbname=${database}' publication logs_${number}`,
    );
    await eventually(async () =>
      expect(await onReplica(`select from pg_subscription_rel where srsubstate <> 'r'`)).toEqual([]),
    );
  };
  /** Waits until all that is written has come over. */
  const caughtUp = async () => {
    const [{ lsn }] = (await onSource('select pg_current_wal_lsn() as lsn')) as [{ lsn: string }];
    await eventually(async () =>
      expect(
        await onSource(
          `select from pg_stat_replication where application_name = 'logs_${number}' and replay_lsn >= '${lsn}'`,
        ),
      ).toHaveLength(1),
    );
  };
  /** The replica takes the place of the source: nobody writes there any more. */
  const takeOver = async () => {
    await caughtUp();
    await onReplica(`drop subscription logs_${number}`);
  };
  const withClient = async <T>(url: string, act: (client: TimeLogClient) => Promise<T>) => {
    const service = await startService({ DATABASE_URL: url });
    try {
      return await act(new TimeLogClient({ baseUrl: service.url, token: TOKEN }));
    } finally {
      await service.end();
    }
  };
  const expectTrueCounts = async () =>
    expect(await onReplica('select * from time_log_count_faults()')).toEqual([]);
  /** Records logs, corrects each third and deletes each fourth of them. */
  const write = async (client: TimeLogClient, logs: number) => {
    for (let log = 1; log <= logs; log++) {
      const values = {
        projectId: `0a000000-0000-4000-8000-00000000000${log % 9}`,
        duration: 0.1 * log,
        date: DAY,
      };
      const { id } = await client.record(values, { idempotencyKey: `key-${++keys}` });
      if (log % 3 === 0) await client.correct(id, { ...values, duration: log });
      if (log % 4 === 0) await client.delete(id);
    }
  };
  /** Reads all further events into a copy. Returns the id of the last one. */
  const follow = async (client: TimeLogClient, copy: Map<string, RecordedTimeLog>, after?: string) => {
    let last = after;
    for await (const event of client.follow(copy, after === undefined ? {} : { after })) last = event.id;
    return last;
  };
  const ids = async (ask: Ask) =>
    (await ask('select id from time_logs')).map(({ id }) => id as string).toSorted();

  it.each([
    ['ahead of', 1],
    ['behind', 0],
  ])(
    'has counts that are right at every moment if they are published too, and folds none before it takes the place of a source that is %s it',
    async (_where, ahead) => {
      await (ahead === 1 ? useUp(onSource, onReplica) : useUp(onReplica, onSource));
      const copy = new Map<string, RecordedTimeLog>();
      const last = await withClient(source, async (client) => {
        await write(client, 40);
        await subscribe([...LOGS, ...COUNTS]);
        let left = 10;
        const writing = (async () => {
          for (; left > 0; left--) await write(client, 12);
        })();
        for (; left > 0;) await expectTrueCounts();
        await writing;
        return follow(client, copy);
      });
      // More than one fold takes, by one statement each.
      for (const logs of [4_000, 4_000, 5_000]) await onSource(insertion(logs));
      await caughtUp();
      expect(await onReplica(FOLD)).toEqual([{ folded: 0 }]);
      expect(await onReplica(WAITING)).toEqual(await onSource(WAITING));
      await takeOver();
      await expectTrueCounts();
      expect(await ids(onReplica)).toEqual(await ids(onSource));
      // Positions of the feed move before anybody writes by SQL.
      await withClient(replica, () => Promise.resolve());
      await onReplica(`begin; ${insertion(4_000)}; ${insertion(4_000)}; ${insertion(4_000)}; commit`);
      await onReplica(insertion(5_000));
      for (let folded = 1; folded > 0;) {
        [{ folded }] = (await onReplica(FOLD)) as [{ folded: number }];
        await expectTrueCounts();
      }
      expect(await onReplica(WAITING)).toEqual([]);
      // The fold of this server is the one that readers go by.
      expect(await onReplica('select from time_log_folds where xmin::text = xid::text')).toHaveLength(1);
      await withClient(replica, async (client) => {
        const { id } = await client.record({ projectId: PROJECT, duration: 1, date: DAY });
        await eventually(async () => {
          await follow(client, copy, last);
          expect([...copy.keys()].toSorted()).toEqual(await ids(onReplica));
        });
        expect(copy.has(id)).toBe(true);
      });
      await expectTrueCounts();
    },
  );
});

/** Inserts logs by one statement. */
const insertion = (logs: number) =>
  `insert into time_logs (id, project_id, duration, description, date)
   select overlay(gen_random_uuid()::text placing '7' from 15)::uuid, '0a000000-0000-4000-8000-000000000001', 0.1, '', date '${DAY}' + n % 40
     from generate_series(1, ${logs}) n`;
const DAY = '2026-01-31';
const PROJECT = '0a000000-0000-4000-8000-000000000000';
type Ask = (sql: string) => Promise<Record<string, unknown>[]>;
