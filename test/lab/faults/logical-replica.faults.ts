import { beforeEach, describe, expect, it } from '@jest/globals';
import { type RecordedTimeLog, TimeLogClient } from '@time-logs/client';
import { dirname } from 'node:path';
import { newToken } from '../../../src/access-token/token-text.js';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database-setup/index.js';
import { Database } from '../../../src/database/index.js';
import { TimeLogCounts } from '../../../src/time-log/index.js';
import { withSql } from '../../support/backup-rows.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { PROJECT } from '../../support/requests.js';
import { eventually } from '../eventually.js';
import { storeToken } from '../tokens.js';
import { serve } from './support/serve.js';
import { useCluster } from './support/use-cluster.js';

const TOKEN = newToken();
const DAY = '2026-01-31';
const LOGS = ['time_logs', 'time_log_keys', 'time_log_deletions', 'time_log_relays', 'access_tokens'];
const COUNTS = 'time_log_counts';
const TRIGGERS = `select format('alter table time_logs enable always trigger %I', tgname) as statement
  from pg_trigger where tgrelid = 'time_logs'::regclass and not tgisinternal`;

/**
 * Tables of a service are published, and another server subscribes to them, on which nobody else writes. PostgreSQL
 * applies the changes row by row: of the triggers there it runs those that are enabled always, and of them none that is
 * on statements, but for the first copy of a table (Logical Replication, Architecture).
 */
describe('a logical replica', () => {
  const clusters = [1, 2].map(() => useCluster({ wal_level: 'logical' }));
  let source: string;
  let replica: string;
  let number = 0;
  let keys = 0;

  beforeEach(async () => {
    const urls = await Promise.all(clusters.map((cluster) => cluster.createDatabase()));
    for (const url of urls) await migrate({ url, migrations });
    [source, replica] = urls as [string, string];
    number += 1;
    await storeToken(source, { token: TOKEN });
  });

  const onSource = (sql: string) => queryOnce(clusters[0]!.asSuperuser(source), sql);
  const onReplica = (sql: string) => queryOnce(clusters[1]!.asSuperuser(replica), sql);

  const subscribe = async (tables: readonly string[]) => {
    await onSource(`create publication logs_${number} for table ${tables.join()}`);
    const database = new URL(source).pathname.slice(1);
    await onReplica(
      `create subscription logs_${number}
         connection 'host=${dirname(clusters[0]!.socket)} user=postgres dbname=${database}' publication logs_${number}`,
    );
    const missing = `select from pg_subscription_rel where srsubstate <> 'r'`;
    await eventually(async () => expect(await onReplica(missing)).toEqual([]));
  };
  /** The replica takes the place of the source when it has all that is written: nobody writes there any more. */
  const takeOver = async () => {
    const [lsn] = await firstColumn(source, 'select pg_current_wal_lsn()');
    const caughtUp = `select from pg_stat_replication
      where application_name = 'logs_${number}' and replay_lsn >= '${String(lsn)}'`;
    await eventually(async () => expect(await onSource(caughtUp)).toHaveLength(1));
    await onReplica(`drop subscription logs_${number}`);
  };
  const withClient = async <T>(url: string, act: (client: TimeLogClient) => Promise<T>) => {
    const service = await serve(url);
    const outcome = await act(new TimeLogClient({ baseUrl: service.url, token: TOKEN }));
    await service.end();
    return outcome;
  };
  const verified = () => withSql(replica, (sql) => new TimeLogCounts(new Database(sql)).verify());
  /** Records logs, corrects each third and deletes each fourth of them. */
  const write = async (client: TimeLogClient, logs: number) => {
    for (let log = 1; log <= logs; log++) {
      const projectId = `0a000000-0000-4000-8000-00000000000${log % 9}`;
      const values = { projectId, duration: 0.1 * log, date: DAY };
      const { id } = await client.record(values, { idempotencyKey: `key-${++keys}` });
      if (log % 3 === 0) await client.correct(id, { ...values, duration: log });
      if (log % 4 === 0) await client.delete(id);
    }
  };
  /** Reads on until nothing more comes; what an event tells of is in the copy then. */
  const follow = async (client: TimeLogClient, copy: Map<string, RecordedTimeLog>, after?: string) => {
    let last = after;
    for await (const event of client.follow(copy, after === undefined ? {} : { after })) last = event.id;
    return last;
  };
  const ids = async (url: string) => (await firstColumn(url, 'select id from time_logs')).toSorted();

  it('has counts that are right at every moment where they are published too, and takes the place of the source', async () => {
    const copy = new Map<string, RecordedTimeLog>();
    const last = await withClient(source, async (client) => {
      await write(client, 40);
      await subscribe([...LOGS, COUNTS]);
      let left = 10;
      const writing = (async () => {
        for (; left > 0; left--) await write(client, 12);
      })();
      for (; left > 0;) expect(await verified()).toMatchObject({ wrong: 0 });
      await writing;
      return follow(client, copy);
    });
    await takeOver();
    expect(await ids(replica)).toEqual(await ids(source));
    await withClient(replica, async (client) => {
      const { id } = await client.record({ projectId: PROJECT, duration: 1, date: DAY });
      await eventually(async () => {
        await follow(client, copy, last);
        expect([...copy.keys()].toSorted()).toEqual(await ids(replica));
      });
      expect(copy.has(id)).toBe(true);
    });
    expect(await verified()).toMatchObject({ wrong: 0 });
  });

  it('lacks counts that are not published until they are rebuilt, which is said by verify', async () => {
    await withClient(source, async (client) => {
      await subscribe(LOGS);
      await write(client, 40);
    });
    await takeOver();
    const { logs, wrong } = await verified();
    expect([logs, wrong > 0]).toEqual([0, true]);
    await queryOnce(replica, 'select rebuild_time_log_counts()');
    expect(await verified()).toEqual({ logs: (await ids(source)).length, wrong: 0 });
  });

  it('has wrong counts and other places in the feed where its triggers are on: they stay off', async () => {
    await withClient(source, async (client) => {
      await write(client, 8);
      for (const { statement } of await onReplica(TRIGGERS)) await onReplica(statement as string);
      await subscribe(LOGS);
      await write(client, 40);
    });
    await takeOver();
    expect((await verified()).wrong).toBeGreaterThan(0);
    const places = 'select position, id from time_logs order by id';
    expect(await onReplica(places)).not.toEqual(await onSource(places));
  });
});
