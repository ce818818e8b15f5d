import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { digestOf, newToken } from '../../../src/access-token/token-text.js';
import { environment } from '../../support/environment.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { ask, expectUnavailable } from './support/ask.js';
import { audit } from './support/audit.js';
import { eventually } from '../eventually.js';
import { eventsAfter, logOf, record } from './support/feed.js';
import { Follower } from './support/follower.js';
import { Ledger } from './support/ledger.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { TOKEN } from './support/service-under-writes.js';
import { count } from './support/tally.js';
import { Writers } from './support/writers.js';

const COMMANDS = join(import.meta.dirname, '..', '..', '..', 'dist', 'src', 'commands');
/** Milliseconds between two creates that are tried on a read-only server. */
const RETRY_PAUSE = 500;

describe('a service whose address leads to a standby', () => {
  let primary: PostgresCluster;
  let standby: PostgresCluster;
  let proxy: LossyProxy;
  let service: ServiceProcess;
  let ledger: Ledger;
  let writers: Writers;
  /** Kept in the table, so that it is looked up. */
  const stored = newToken();

  /** The URL of a database of one of the two, through the proxy. */
  const throughProxy = async (url: string) => {
    await proxy.listen();
    return proxy.url(url);
  };
  const lines = (pattern: RegExp) =>
    service
      .output()
      .split('\n')
      .filter((line) => pattern.test(line));
  const total = async (token?: string) => {
    const { status, text } = await ask(`${service.url}/api/v1/time-logs?limit=1`, token ? { token } : {});
    const { meta } = JSON.parse(text) as { meta?: { total: number } };
    return [status, meta?.total];
  };
  /** Holds the total against what was answered: a create that was answered 503 may have been stored as well. */
  const expectTotal = async (token?: string) => {
    const [status, logs = 0] = await total(token);
    const least = ledger.acknowledged.size;
    expect([status, logs >= least && logs <= least + ledger.unknown.size]).toEqual([200, true]);
  };
  /** The name of a database with the tables of the service, on both servers. */
  const migrated = async () => {
    const url = await primary.createDatabase();
    await (await startService({ DATABASE_URL: url })).end();
    await queryOnce(
      url,
      `insert into access_tokens (id, name, digest, scopes, created_at)
       values (gen_random_uuid(), 'stored', $1, '{time-logs:read,time-logs:write}', now())`,
      [digestOf(stored)],
    );
    return url;
  };
  const caughtUp = (url: string) =>
    eventually(async () =>
      expect(await queryOnce(standby.on(url), 'select name from access_tokens')).toHaveLength(1),
    );

  beforeAll(async () => {
    primary = await PostgresCluster.create();
    standby = await primary.createStandby();
  });
  afterAll(async () => {
    await standby.remove();
    await primary.remove();
  });

  const underWrites = async (url: string, act: () => Promise<void>) => {
    service = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
    ledger = new Ledger();
    writers = new Writers({ token: TOKEN, ledger });
    writers.aim(service.port);
    try {
      writers.start();
      await act();
      await writers.stop();
      await expectTotal();
    } finally {
      await writers.stop();
      proxy.close();
      await service.end();
    }
  };
  const audited = async (url: string) => {
    const { storedUnanswered, lost, doubled, strange } = await audit(url, ledger);
    await count({
      acknowledged: ledger.acknowledged.size,
      refused: ledger.count('refused'),
      cut: ledger.count('cut'),
      storedUnanswered,
      lost: lost.length,
      doubled: doubled.length,
      unexpected: ledger.unexpected.length,
    });
    expect({ lost, doubled, strange, unexpected: ledger.unexpected }).toEqual({
      lost: [],
      doubled: [],
      strange: [],
      unexpected: [],
    });
  };

  it('tells a command that would change something that it is a standby, in one line', async () => {
    const [empty, url] = [await primary.createDatabase(), await migrated()];
    await caughtUp(url);
    const run = (databaseUrl: string, command: string, ...args: string[]) =>
      new Promise((resolve) => {
        const env = environment({ DATABASE_URL: standby.on(databaseUrl) });
        execFile(
          process.execPath,
          [join(COMMANDS, `${command}.command.js`), ...args],
          { env },
          (error, _, words) => resolve([error?.code, words]),
        );
      });
    const line = (verb: string) =>
      expect.stringMatching(new RegExp(`^.*cannot execute ${verb} .*: name a server that is no standby\n$`));
    expect(await run(empty, 'migrate')).toEqual([1, line('CREATE TABLE')]);
    expect(await run(url, 'token', 'create', '--name', 'Ada')).toEqual([1, line('INSERT')]);
    expect(await run(url, 'counts', 'rebuild')).toEqual([1, line('INSERT')]);
  });

  it('starts there, serves reads, and creates again when the address leads to the primary', async () => {
    const url = await migrated();
    await caughtUp(url);
    proxy = new LossyProxy(standby.socket);
    await underWrites(await throughProxy(url), async () => {
      const follower = new Follower(service.url);
      const [begun, before] = [performance.now(), standby.logged(/cannot execute INSERT/)];
      const refused = () => ledger.count('refused');
      await writers.until(() => refused() >= 400, '400 creates refused with 503');
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
      expect(refused()).toBeGreaterThan(10 * tries);
      // That a token was used cannot be noted there, and is not tried.
      expect(standby.logged(/cannot execute UPDATE/)).toBe(0);

      // Whoever still asks the standby from now on sees that its connection leads there.
      await standby.query('select pg_wal_replay_pause()');
      proxy.aim(primary.socket);
      await writers.acknowledge(1);
      await writers.acknowledge(50);
      await writers.stop();
      await Promise.all(Array.from({ length: 20 }, () => expectTotal()));
      await eventually(async () => {
        await expectTotal(stored);
        const used = 'select 1 from access_tokens where last_used_at is not null';
        expect(await queryOnce(url, used)).toHaveLength(1);
      });
      expect(lines(/database takes no changes: .*read-only/)).toHaveLength(1);
      expect(lines(/database takes changes again/)).toHaveLength(1);
      expect(lines(/"context":"(Database|AccessTokenLookup)"/)).toHaveLength(2);
      await follower.expectAllOf(url);
    });
    await standby.query('select pg_wal_replay_resume()');
    await audited(url);
  });

  it('refuses corrections and deletions there, and takes them when the address leads to the primary', async () => {
    const url = await migrated();
    await queryOnce(url, `update access_tokens set scopes = scopes || '{time-logs:correct}'`);
    await caughtUp(url);
    proxy = new LossyProxy(standby.socket);
    await underWrites(await throughProxy(url), async () => {
      const log = ledger.intend();
      const path = `${service.url}/api/v1/time-logs/019c1370-4e1b-7000-8000-000000000001`;
      const change = (method: 'PUT' | 'DELETE') =>
        ask(path, { token: stored, method, ...(method === 'PUT' && { body: JSON.stringify(log) }) });
      for (const method of ['PUT', 'DELETE'] as const) expectUnavailable(await change(method));
      proxy.aim(primary.socket);
      await writers.acknowledge(1);
      for (const method of ['PUT', 'DELETE'] as const) expect((await change(method)).status).toBe(404);
    });
    await audited(url);
  });

  it('has nothing for a reader of the feed who is ahead of it, and later each event that they lack, once', async () => {
    const url = await migrated();
    await caughtUp(url);
    const start = (databaseUrl: string) => startService({ DATABASE_URL: databaseUrl, ACCESS_TOKEN: TOKEN });
    const [there, here] = [await start(url), await start(standby.on(url))];
    try {
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
      await standby.query('select pg_wal_replay_pause()');
      await eventually(async () =>
        expect(await standby.query('select pg_get_wal_replay_pause_state() as state')).toEqual([
          { state: 'paused' },
        ]),
      );
      const events = await allEventsOf(there);
      for (const ahead of events.slice(1)) expect(await eventsAfter(here, ahead)).toEqual([]);
      expect(await eventsAfter(here, first)).toEqual(events.slice(1, 2));

      await standby.query('select pg_wal_replay_resume()');
      const all = await allEventsOf(here);
      expect(all.slice(0, 4)).toEqual(events);
      for (const [index, last] of all.entries())
        expect(await eventsAfter(here, last)).toEqual(all.slice(index + 1));
    } finally {
      await there.end();
      await here.end();
    }
  });

  it('creates again when the primary is frozen and the standby takes its place, has lost nothing, and the feed goes on', async () => {
    const url = await migrated();
    await primary.query(`alter system set synchronous_standby_names = '*'`);
    await primary.query('select pg_reload_conf()');
    await caughtUp(url);
    proxy = new LossyProxy(primary.socket);
    await underWrites(await throughProxy(url), async () => {
      const follower = new Follower(service.url);
      await writers.acknowledge(50);
      // Its connections stay, and are silent.
      await primary.freeze();
      await writers.until(() => ledger.count('refused') >= 8, '8 creates refused with 503');
      proxy.aim(standby.socket);
      const refused = ledger.count('refused');
      await writers.until(() => ledger.count('refused') >= refused + 100, '100 creates refused with 503');
      expect((await total())[0]).toBe(200);
      await standby.query('select pg_promote()');
      await writers.acknowledge(1);
      await writers.acknowledge(50);
      expect(lines(/database takes no changes: .*read-only/)).toHaveLength(1);
      expect(lines(/database takes changes again/)).toHaveLength(1);
      await writers.stop();
      await follower.expectAllOf(standby.on(url));
    });
    await audited(standby.on(url));
  });
});
