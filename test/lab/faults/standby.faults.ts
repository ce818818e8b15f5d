import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { newToken } from '../../../src/access-token/access-token.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { type PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { eventually } from '../../support/eventually.js';
import { storeToken } from '../tokens.js';
import { ask, expectUnavailable } from './support/ask.js';
import { eventsAfter, Follower, logOf, record } from './support/follower.js';
import type { Ledger } from './support/ledger.js';
import { linesOf, serve } from './support/serve.js';
import { refusedCreates, underWrites as serviceUnderWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';
import type { Writers } from './support/writers.js';

/** Milliseconds between two creates that are tried on a read-only server. */
const RETRY_PAUSE = 500;

describe('a service whose address leads to a standby', () => {
  const primary = useCluster();
  let standby: PostgresCluster;
  let proxy: LossyProxy;
  let service: ServiceProcess;
  let ledger: Ledger;
  let writers: Writers;
  /** Kept in the table, so that it is looked up. */
  const stored = newToken();

  const total = async (token?: string) => {
    const { status, body } = await ask(`${service.url}/api/v1/time-logs?limit=1`, token ? { token } : {});
    return [status, (body as { meta?: { total: number } }).meta?.total];
  };
  /** Holds the total against what was answered: a create that was answered 503 may have been stored as well. */
  const expectTotal = async (token?: string) => {
    const [status, logs = 0] = await total(token);
    const least = ledger.acknowledged.size;
    expect([status, logs >= least && logs <= least + ledger.unknown.size]).toEqual([200, true]);
  };
  const expectOneStretchWithoutChanges = () => {
    expect(linesOf(service, /database takes no changes: /)).toBe(1);
    expect(linesOf(service, /database takes changes again/)).toBe(1);
  };
  /** The URL of a database with the tables of the service, on both servers. */
  const migrated = async () => {
    const url = await primary.createDatabase();
    await migrate({ url, migrations });
    await storeToken(url, { token: stored });
    await eventually(async () =>
      expect(await queryOnce(standby.on(url), 'select name from access_tokens')).toHaveLength(1),
    );
    return url;
  };
  const withReplayPaused = async (act: () => Promise<void>) => {
    await standby.query('select pg_wal_replay_pause()');
    const state = 'select pg_get_wal_replay_pause_state() as state';
    await eventually(async () => expect(await standby.query(state)).toEqual([{ state: 'paused' }]));
    await act().finally(() => standby.query('select pg_wal_replay_resume()'));
  };

  beforeAll(async () => {
    standby = await primary.createStandby();
  });
  afterAll(() => standby.remove());

  /** The service on an address that leads to a server first, and what is read of its database at the end. */
  const underWrites = async (
    server: PostgresCluster,
    url: string,
    readerUrl: string,
    act: () => Promise<void>,
  ) => {
    proxy = new LossyProxy(server.socket);
    await proxy.listen();
    const options = { database: proxy.url(url), readerUrl, isWritable: server === primary };
    await serviceUnderWrites(options, async (scene) => {
      ({ service, ledger, writers } = scene);
      await act();
    }).finally(() => proxy.close());
  };

  it('starts there, serves reads, and creates again when the address leads to the primary', async () => {
    const url = await migrated();
    await underWrites(standby, url, url, async () => {
      const follower = new Follower((path) => ask(service.url + path));
      const [begun, before] = [performance.now(), standby.logged(/cannot execute INSERT/)];
      await refusedCreates({ writers, ledger }, 400);
      for (let round = 0; round < 20; round++) {
        expect(await total()).toEqual([200, 0]);
        expect(await total(stored)).toEqual([200, 0]);
        const events = await ask(`${service.url}/api/v1/time-logs/events`);
        expect([events.status, events.body]).toEqual([200, []]);
        expect(await ask(`${service.url}/health`)).toMatchObject({ status: 200, text: 'OK' });
        expect(await ask(`${service.url}/readyz`)).toMatchObject({ status: 200, text: 'OK' });
      }
      const tries = standby.logged(/cannot execute INSERT/) - before;
      expect(tries).toBeLessThanOrEqual((performance.now() - begun) / RETRY_PAUSE + 2);
      expect(ledger.count('refused')).toBeGreaterThan(tries);
      const change = (method: 'PUT' | 'DELETE') =>
        ask(`${service.url}/api/v1/time-logs/019c1370-4e1b-7000-8000-000000000001`, {
          token: stored,
          method,
          ...(method === 'PUT' && { body: JSON.stringify(ledger.intend()) }),
        });
      for (const method of ['PUT', 'DELETE'] as const) expectUnavailable(await change(method));
      // That a token was used cannot be noted there, and is not tried.
      expect(standby.logged(/cannot execute UPDATE/)).toBe(0);

      // From now on a reader of the standby sees that its connection leads there.
      await withReplayPaused(async () => {
        proxy.aim(primary.socket);
        await writers.acknowledge(1);
        await writers.acknowledge(50);
        for (const method of ['PUT', 'DELETE'] as const) expect((await change(method)).status).toBe(404);
        await writers.stop();
        await Promise.all(Array.from({ length: 20 }, () => expectTotal()));
        await eventually(async () => {
          await expectTotal(stored);
          const used = 'select 1 from access_tokens where last_used_at is not null';
          expect(await queryOnce(url, used)).toHaveLength(1);
        });
        expectOneStretchWithoutChanges();
        expect(linesOf(service, /"context":"(Database|AccessTokenLookup)"/)).toBe(2);
        await follower.expectAllOf(url);
      });
      writers.start();
    });
  });

  it('has nothing for a reader of the feed who is ahead of it, and later each event that they lack, once', async () => {
    const url = await migrated();
    const [there, here] = [await serve(url), await serve(standby.on(url))];
    const recorded: string[] = [];
    /** Records two more logs; all events, as soon as they can be read there. */
    const allEventsOf = async (reading: ServiceProcess) => {
      recorded.push(await record(there), await record(there));
      return eventually(async () => {
        const events = await eventsAfter(reading);
        expect(events.map(logOf)).toEqual(recorded);
        return events;
      });
    };
    const [first] = await allEventsOf(here);
    let events: string[] = [];
    await withReplayPaused(async () => {
      events = await allEventsOf(there);
      for (const ahead of events.slice(1)) expect(await eventsAfter(here, ahead)).toEqual([]);
      expect(await eventsAfter(here, first)).toEqual(events.slice(1, 2));
    });
    const all = await allEventsOf(here);
    expect(all.slice(0, 4)).toEqual(events);
    for (const [index, last] of all.entries())
      expect(await eventsAfter(here, last)).toEqual(all.slice(index + 1));
  });

  it('creates again when the primary is frozen and the standby takes its place, has lost nothing, and the feed goes on', async () => {
    const url = await migrated();
    await primary.configure({ synchronous_standby_names: '*' });
    await underWrites(primary, url, standby.on(url), async () => {
      const follower = new Follower((path) => ask(service.url + path));
      await writers.acknowledge(50);
      // Its connections stay, and are silent.
      await primary.freeze();
      await refusedCreates({ writers, ledger }, 8);
      proxy.aim(standby.socket);
      await refusedCreates({ writers, ledger }, 100);
      expect((await total())[0]).toBe(200);
      await standby.query('select pg_promote()');
      await writers.acknowledge(1);
      await writers.acknowledge(50);
      expectOneStretchWithoutChanges();
      await writers.stop();
      await follower.expectAllOf(standby.on(url));
      writers.start();
    });
  });
});
