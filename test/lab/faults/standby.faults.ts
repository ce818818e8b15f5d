import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { newToken } from '../../../src/access-token/access-token.js';
import { eventually } from '../../support/eventually.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { firstColumn, type PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { idOf, LOG, TIME_LOGS } from '../../support/requests.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { storeToken } from '../tokens.js';
import { ask, expectUnavailable } from './support/ask.js';
import { Follower } from './support/follower.js';
import {
  linesOf,
  refusedCreates,
  serve,
  type ServiceUnderWrites,
  underWrites as serviceUnderWrites,
} from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Milliseconds between two creates that are tried on a read-only server. */
const RETRY_PAUSE = 500;

describe('a service whose address leads to a standby', () => {
  const primary = useCluster();
  let standby: PostgresCluster;
  /** Kept in the table, so that it is looked up. */
  const stored = newToken();

  const total = async ({ url }: ServiceProcess, token?: string) => {
    const { status, body } = await ask(`${url}${TIME_LOGS}?limit=1`, token ? { token } : {});
    return [status, (body as { meta?: { total: number } }).meta?.total];
  };
  /** Each time without changes is one line, and its end another, however many requests it costs. */
  const expectLinesOfOutages = ({ service, ledger }: ServiceUnderWrites) => {
    const outages = linesOf(service, /database takes no changes: /);
    expect(linesOf(service, /database takes changes again/)).toBe(outages);
    expect(outages).toBeGreaterThan(0);
    expect(outages).toBeLessThan(ledger.count('refused') / 10);
  };
  /** The URL of a database with the tables of the service, on both servers. */
  const migrated = async () => {
    const url = await primary.createDatabase();
    await migrate({ url, migrations });
    await storeToken(url, { token: stored });
    await eventually(async () =>
      expect(await firstColumn(standby.on(url), 'select name from access_tokens')).toHaveLength(1),
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
    act: (scene: ServiceUnderWrites & { readonly proxy: LossyProxy }) => Promise<void>,
  ) => {
    const proxy = new LossyProxy(server.socket);
    await proxy.listen();
    const options = { database: proxy.url(url), readerUrl, isWritable: server === primary };
    await serviceUnderWrites(options, async (scene) => {
      const follower = new Follower((path) => ask(scene.service.url + path));
      await act({ ...scene, proxy });
      await scene.writers.stop();
      await follower.expectAllOf(readerUrl);
      scene.writers.start();
    }).finally(() => proxy.close());
  };

  it('starts there, serves reads, and creates again when the address leads to the primary', async () => {
    const url = await migrated();
    await underWrites(standby, url, url, async (scene) => {
      const { service, writers, ledger, proxy } = scene;
      const [begun, before] = [performance.now(), standby.logged(/cannot execute INSERT/)];
      await refusedCreates({ writers, ledger }, 400);
      for (let round = 0; round < 20; round++) {
        expect(await total(service)).toEqual([200, 0]);
        expect(await total(service, stored)).toEqual([200, 0]);
        expect(await ask(`${service.url}${TIME_LOGS}/events`)).toMatchObject({ status: 200, body: [] });
        expect(await ask(`${service.url}/health`)).toMatchObject({ status: 200, text: 'OK' });
        expect(await ask(`${service.url}/readyz`)).toMatchObject({ status: 200, text: 'OK' });
      }
      const tries = standby.logged(/cannot execute INSERT/) - before;
      expect(tries).toBeLessThanOrEqual((performance.now() - begun) / RETRY_PAUSE + 2);
      expect(ledger.count('refused')).toBeGreaterThan(tries);
      const change = (method: 'PUT' | 'DELETE') =>
        ask(`${service.url}${TIME_LOGS}/019c1370-4e1b-7000-8000-000000000001`, {
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
        await writers.acknowledge(50);
        for (const method of ['PUT', 'DELETE'] as const) expect((await change(method)).status).toBe(404);
        await writers.stop();
        const totals = await Promise.all(Array.from({ length: 20 }, () => total(service)));
        const created = await firstColumn(url, 'select count(*)::int from time_logs');
        expect(totals).toEqual(totals.map(() => [200, created[0]]));
        await eventually(async () => {
          expect(await total(service, stored)).toEqual([200, created[0]]);
          const used = 'select from access_tokens where last_used_at is not null';
          expect(await queryOnce(url, used)).toHaveLength(1);
        });
        expectLinesOfOutages(scene);
        expect(linesOf(service, /"context":"AccessTokenLookup"/)).toBe(0);
      });
    });
  });

  it('has nothing for a reader of the feed who is ahead of it, and later each event that they lack, once', async () => {
    const url = await migrated();
    const [there, here] = [await serve(url), await serve(standby.on(url))];
    const eventsAfter = async (service: ServiceProcess, lastEventId?: string) => {
      const query = lastEventId === undefined ? '' : `?lastEventId=${lastEventId}`;
      const { status, body } = await ask(`${service.url}${TIME_LOGS}/events${query}`);
      expect(status).toBe(200);
      return (body as { readonly id: string }[]).map(({ id }) => id);
    };
    const recorded: string[] = [];
    /** Records two more logs; all events, as soon as they can be read there. */
    const allEventsOf = async (reading: ServiceProcess) => {
      for (let log = 0; log < 2; log++)
        recorded.push(idOf(await ask(there.url + TIME_LOGS, { body: JSON.stringify(LOG) })));
      return eventually(async () => {
        const events = await eventsAfter(reading);
        expect(events.map((id) => id.slice(id.indexOf('-') + 1))).toEqual(recorded);
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
    await underWrites(primary, url, standby.on(url), async (scene) => {
      const { service, writers, ledger, proxy } = scene;
      await writers.acknowledge(50);
      // Its connections stay, and are silent.
      await primary.freeze();
      await refusedCreates({ writers, ledger }, 8);
      proxy.aim(standby.socket);
      await refusedCreates({ writers, ledger }, 100);
      expect((await total(service))[0]).toBe(200);
      await standby.query('select pg_promote()');
      await writers.acknowledge(50);
      expectLinesOfOutages(scene);
    });
  });
});
