import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import type { Answer } from '../../support/requests.js';
import { endProcess, spawnService } from '../../support/service-process.js';
import { eventually } from '../../support/eventually.js';
import { storeToken } from '../tokens.js';
import { ask, expectUnavailable } from './support/ask.js';
import { canMount, mountSmallDisk } from './support/full-disk.js';
import {
  linesOf,
  recovered,
  refusedCreates,
  serve,
  type ServiceUnderWrites,
  TOKEN,
  underWrites,
} from './support/service-under-writes.js';
import { killBackend, useCluster } from './support/use-cluster.js';

const ROUNDS = timesOf(5, 2);
/** Milliseconds that a reader waits after a refusal. */
const RETRY_DELAY_MS = 20;
/** Waves of requests to a frozen database: the first finds connections that hang, later ones none that is free. */
const WAVES = 3;
/** Connections that the service may have; and beside the pool one looks after what has no answer. */
const POOL_SIZE = 10;
const OURS = `select pid from pg_stat_activity
  where application_name = 'time-logs' and datname = current_database()`;

const postgres = useCluster();

/** Ends the server, for so long that every writer is refused several times. */
const outageBy = (signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT') => async (scene: ServiceUnderWrites) => {
  await postgres.end(signal);
  await refusedCreates(scene, 40);
  await postgres.start();
};

it.each([
  ['SIGKILL of the postmaster', outageBy('SIGKILL')],
  ['pg_ctl stop -m immediate', outageBy('SIGQUIT')],
  ['pg_ctl stop -m fast', outageBy('SIGINT')],
  [
    'SIGKILL of one backend, which takes all others with it',
    async (scene: ServiceUnderWrites) => {
      await killBackend(postgres);
      await refusedCreates(scene, 1);
      await eventually(() => postgres.query('select 1'));
    },
  ],
])(
  'a service under writes and lists answers 503 on %s, stays up, and serves again when the database does',
  (_name, outage) =>
    underWrites({ database: postgres }, async (scene) => {
      const { service, writers, ledger } = scene;
      const refusals: Answer[] = [];
      let isListing = true;
      const list = async () => {
        while (isListing) {
          const answer = await ask(`${service.url}/api/v1/time-logs?limit=10`);
          if (answer.status === 200) continue;
          refusals.push(answer);
          await delay(RETRY_DELAY_MS);
        }
      };
      const listing = Promise.all(Array.from({ length: 4 }, list));
      try {
        for (let round = 1; round <= ROUNDS; round++) {
          await outage(scene);
          await writers.acknowledge(1);
          await writers.acknowledge(100);
          expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
          // One line for the outage, not one for each request that it cost.
          expect(linesOf(service, /database unavailable/)).toBe(round);
          expect(linesOf(service, /database available again/)).toBe(round);
        }
        expect(ledger.count('cut')).toBe(0);
      } finally {
        isListing = false;
        await listing;
      }
      expect(refusals.length).toBeGreaterThan(0);
      refusals.forEach(expectUnavailable);
    }),
);

it('a frozen database is 503 for every request that needs it, 200 for livez, and the pool is clean afterwards', () =>
  underWrites({ database: postgres }, async ({ service, url, writers, ledger }) => {
    const paths = { list: `${service.url}/api/v1/time-logs`, health: `${service.url}/health` };
    for (let round = 1; round <= ROUNDS; round++) {
      const tokens = await Promise.all(Array.from({ length: WAVES * 3 }, () => storeToken(url)));
      await postgres.freeze();
      for (let wave = 1; wave <= WAVES; wave++) {
        // None of these tokens was seen before: the service has to look it up.
        const [forHealth, forList, forCreate] = tokens.splice(0, 3);
        const waiting = [
          ask(paths.health),
          ask(`${service.url}/readyz`, { token: undefined }),
          ask(paths.list),
          ask(paths.list, { token: forList }),
          ask(paths.health, { token: forHealth }),
          ask(paths.list, { token: forCreate, body: JSON.stringify(ledger.intend()) }),
        ];
        const alive = await ask(`${service.url}/livez`, { token: undefined });
        expect([alive.status, alive.text]).toEqual([200, 'OK']);
        for (const answer of await Promise.all(waiting)) expectUnavailable(answer);
      }
      postgres.thaw();
      await writers.acknowledge(50);
      const refused = ledger.count('refused');
      await writers.acknowledge(200);
      // The pool has no connection that still waits for an earlier answer.
      expect(ledger.count('refused')).toBe(refused);
      expect(await ask(paths.health)).toMatchObject({ status: 200, text: 'OK' });
      await eventually(async () =>
        expect((await queryOnce(url, OURS)).length).toBeLessThanOrEqual(POOL_SIZE),
      );
    }
    expect(ledger.count('cut')).toBe(0);
  }));

describe('a service whose database has no room for it', () => {
  it('answers 503 in bounded time while the table is locked and the pool exhausted, but not to what needs no connection', () =>
    underWrites({ database: postgres, writers: 40 }, async (scene) => {
      const list = `${scene.service.url}/api/v1/time-logs`;
      const owner = await connected(scene.url);
      try {
        await owner.query('begin; lock table time_logs in access exclusive mode');
        await refusedCreates(scene, 40);
        for (let round = 0; round < 5; round++) {
          const needless = await Promise.all([
            ask(list, { token: undefined }),
            ask(list, { token: 'not-one-of-ours' }),
            ask(list, { body: '{"duration":0}' }),
            ask(`${list}?page=0`),
            ask(`${scene.service.url}/livez`, { token: undefined }),
          ]);
          expect(needless.map(({ status }) => status)).toEqual([401, 401, 400, 400, 200]);
        }
        expectUnavailable(await ask(list));
      } finally {
        await owner.end();
      }
      await recovered(scene);
    }));

  it('answers 503 while the server takes no more connections, does not storm it, and recovers by itself', () =>
    underWrites({ database: postgres }, async (scene) => {
      const { service, ledger, url } = scene;
      const TOO_MANY = /too many connections/;
      const name = new URL(url).pathname.slice(1);
      const limitConnections = (limit: number) =>
        postgres.query(`alter database ${name} connection limit ${limit}`);
      try {
        await limitConnections(0);
        await postgres.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        );
        const [knocks, refused] = [postgres.logged(TOO_MANY), ledger.count('refused')];
        await refusedCreates(scene, 100);
        expectUnavailable(await ask(`${service.url}/health`));
        // Each request knocks once; those that are under way may have knocked and not be answered yet.
        const more = ledger.count('refused') - refused;
        expect(postgres.logged(TOO_MANY) - knocks).toBeLessThanOrEqual(more + 20);
      } finally {
        await limitConnections(-1);
      }
      await recovered(scene);
    }));
});

describe('a service whose database refuses what it is asked', () => {
  (canMount ? it : it.skip)(
    'answers 503 while the disk of the table is full (where a disk can be mounted), and recovers by itself',
    async () => {
      const place = join(postgres.place, 'disk');
      await mkdir(place);
      const disk = mountSmallDisk(place, '2m', postgres.owner);
      const tablespace = `small_${process.pid}`;
      const FULL = /No space left on device/;
      try {
        await postgres.query(`create tablespace ${tablespace} location '${place}'`);
        await postgres.query(`grant create on tablespace ${tablespace} to public`);
        const url = await postgres.createDatabase();
        await underWrites({ database: url }, async (scene) => {
          await queryOnce(url, `alter table time_logs set tablespace ${tablespace}`);
          await queryOnce(url, `alter index time_logs_pkey set tablespace ${tablespace}`);
          const full = postgres.logged(FULL);
          await disk.fill();
          await refusedCreates(scene, 40);
          expect(postgres.logged(FULL)).toBeGreaterThan(full);
          await disk.relieve();
          await recovered(scene);
        });
        await postgres.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
        await postgres.query(`drop tablespace ${tablespace}`);
      } finally {
        disk.unmount();
      }
    },
  );

  it('answers 503 to a serialization failure, does not repeat the statement, and recovers by itself', () =>
    underWrites({ database: postgres }, async (scene) => {
      await queryOnce(
        scene.url,
        `create sequence attempts;
         create function refuse() returns trigger language plpgsql as
           $$ begin perform nextval('attempts'); raise exception using errcode = '40001'; end $$;
         create trigger refuse before insert on time_logs for each statement execute function refuse()`,
      );
      await refusedCreates(scene, 40);
      await queryOnce(scene.url, 'drop trigger refuse on time_logs');
      await recovered(scene);
      // A sequence counts also what was rolled back.
      const [attempts] = await firstColumn(scene.url, 'select last_value from attempts');
      expect(Number(attempts)).toBeLessThanOrEqual(scene.ledger.count('refused'));
    }));
});

describe('a service that starts', () => {
  it('waits for a database that is away, and serves when it comes', async () => {
    const url = await postgres.createDatabase();
    await postgres.end('SIGINT');
    const starting = serve(url);
    await postgres.start();
    expect(await ask(`${(await starting).url}/health`)).toMatchObject({ status: 200, text: 'OK' });
  });

  it('gives a database that stays away a bounded number of tries, says so in one clear line, and exits with 1', async () => {
    const url = await postgres.createDatabase();
    await postgres.end('SIGINT');
    const { child, output } = spawnService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
    try {
      expect(await once(child, 'exit')).toEqual([1, null]);
      const lines = output().trim().split('\n');
      expect(lines.filter((line) => line.includes('waiting for the database'))).toHaveLength(1);
      expect(
        lines.filter((line) => /^the database at .* could not be reached: .*check DATABASE_URL/.test(line)),
      ).toEqual([lines.at(-1)]);
      expect(output()).not.toMatch(/^\s+at /m);
    } finally {
      await endProcess(child, 'SIGKILL');
      await postgres.start();
    }
  });
});
