import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ask } from './support/ask.js';
import { eventually } from '../eventually.js';
import { canMount, SmallDisk } from './support/full-disk.js';
import { connected, PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { recovered, refusedCreates, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** What a database may answer to a statement instead of taking it, with its SQLSTATE. */
const REFUSALS = [
  ['a full disk', '53100'],
  ['lack of memory', '53200'],
  ['an input or output error', '58030'],
  ['a lock that it does not get', '55P03'],
  ['a statement that is cancelled', '57014'],
  ['a serialization failure', '40001'],
] as const;

describe('a service whose database refuses what it is asked', () => {
  const postgres = useCluster({ deadlock_timeout: '100ms' });

  it('answers 503 to creates of a read-only database, lists on, and recovers by itself', async () => {
    const url = await postgres.createDatabase();
    await underWrites({ url }, async (scene) => {
      await postgres.configure({ default_transaction_read_only: 'on' });
      await refusedCreates(scene, 40);
      expect(await ask(`${scene.service.url}/api/v1/time-logs`)).toMatchObject({ status: 200 });
      await postgres.configure({ default_transaction_read_only: null });
      await recovered(scene);
    });
  });

  (canMount ? it : it.skip)(
    'answers 503 while the disk of the table is full (where a disk can be mounted), and recovers by itself',
    async () => {
      const url = await postgres.createDatabase();
      const place = join(postgres.place, 'disk');
      await mkdir(place);
      const disk = SmallDisk.mount(place, '2m', postgres.owner);
      const tablespace = `small_${process.pid}`;
      try {
        await postgres.query(`create tablespace ${tablespace} location '${disk.path}'`);
        await postgres.query(`grant create on tablespace ${tablespace} to public`);
        await underWrites({ url }, async (scene) => {
          await queryOnce(url, `alter table time_logs set tablespace ${tablespace}`);
          await queryOnce(url, `alter index time_logs_pkey set tablespace ${tablespace}`);
          const full = postgres.logged(/No space left on device/);
          await disk.fill();
          await refusedCreates(scene, 40);
          expect(postgres.logged(/No space left on device/)).toBeGreaterThan(full);
          await disk.relieve();
          await recovered(scene);
        });
        await queryOnce(postgres.url, `drop database ${new URL(url).pathname.slice(1)} with (force)`);
        await postgres.query(`drop tablespace ${tablespace}`);
      } finally {
        disk.unmount();
      }
    },
  );

  (canMount ? it : it.skip)(
    'answers 503 while the disk of the whole database is full (where a disk can be mounted), and serves when there is room',
    async () => {
      let disk!: SmallDisk;
      const whole = await PostgresCluster.create({}, (place) => (disk = SmallDisk.mount(place, '150m')));
      try {
        const url = await whole.createDatabase();
        await underWrites({ url }, async (scene) => {
          await disk.fill();
          // Each asks for a new file of the write-ahead log; the first that does not get it ends the server.
          const exhaust = async () => {
            for (;;) await whole.query('select pg_switch_wal()');
          };
          await expect(exhaust()).rejects.toThrow();
          await refusedCreates(scene, 40);
          await disk.relieve();
          expect(whole.logged(/^PANIC: .*No space left on device/)).toBeGreaterThan(0);
          await whole.end('SIGQUIT');
          await whole.start();
          await recovered(scene);
        });
      } finally {
        await whole.end('SIGQUIT');
        disk.unmount();
        await whole.remove();
      }
    },
  );

  it.each(REFUSALS)(
    'answers 503 to %s (%s), does not repeat the statement, and recovers by itself',
    async (_what, state) => {
      const url = await postgres.createDatabase();
      await underWrites({ url }, async (scene) => {
        await queryOnce(
          url,
          `create sequence attempts;
         create function refuse() returns trigger language plpgsql as $$
         begin perform nextval('attempts'); raise exception using errcode = '${state}', message = 'refused'; end $$;
         create trigger refuse before insert on time_logs for each statement execute function refuse()`,
        );
        await refusedCreates(scene, 40);
        await queryOnce(url, 'drop trigger refuse on time_logs');
        await recovered(scene);
        // A sequence counts also what was rolled back.
        const [attempts] = await queryOnce<{ count: string }>(
          url,
          'select last_value as count from attempts',
        );
        expect(Number(attempts!.count)).toBeLessThanOrEqual(scene.ledger.count('refused'));
      });
    },
  );

  it('answers 503 to the victim of a deadlock, and recovers by itself', async () => {
    const url = await postgres.createDatabase();
    await underWrites({ url }, async (scene) => {
      const opponent = await connected(postgres.asSuperuser(url));
      try {
        await opponent.query("set deadlock_timeout = '1min'");
        await opponent.query('begin; select pg_advisory_xact_lock(2)');
        await queryOnce(
          url,
          `create function lock_both() returns trigger language plpgsql as $$
           begin
             perform pg_advisory_xact_lock(1);
             while not exists (select from pg_locks where locktype = 'advisory' and not granted) loop
               perform pg_sleep(0.01);
             end loop;
             perform pg_advisory_xact_lock(2);
             return null;
           end $$;
           create trigger lock_both before insert on time_logs for each statement execute function lock_both()`,
        );
        await eventually(async () => {
          const locks = "select objid from pg_locks where locktype = 'advisory' and objid = 1";
          expect(await queryOnce(url, locks)).toHaveLength(1);
        });
        // Waits for the create that holds the first lock, and then waits for the second.
        const held = opponent.query('select pg_advisory_xact_lock(1)');
        await refusedCreates(scene, 1);
        await held;
      } finally {
        await opponent.end();
      }
      await eventually(async () => expect(postgres.logged(/deadlock detected/)).toBeGreaterThan(0));
      await queryOnce(url, 'drop trigger lock_both on time_logs');
      await recovered(scene);
    });
  });

  it('stores a create that waited for a row, whatever the isolation of transactions is by default', async () => {
    const url = await postgres.createDatabase();
    const name = new URL(url).pathname.slice(1);
    await postgres.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
    await underWrites({ url }, async ({ writers, ledger }) => {
      const opponent = await connected(url);
      try {
        await queryOnce(
          url,
          `create table counter as select 0 as creates;
           create function count_create() returns trigger language plpgsql as $$
           begin update counter set creates = creates + 1; return null; end $$;
           create trigger count_create before insert on time_logs for each statement execute function count_create()`,
        );
        await opponent.query(
          'begin isolation level read committed; update counter set creates = creates + 1',
        );
        await eventually(async () => {
          const waiting = await queryOnce(url, 'select 1 from pg_locks where not granted');
          expect(waiting.length).toBeGreaterThan(0);
        });
        // Whoever waited for the row finds it changed since its snapshot.
        await opponent.query('commit');
        await writers.acknowledge(50);
      } finally {
        await opponent.end();
      }
      expect([ledger.count('refused'), postgres.logged(/could not serialize access/)]).toEqual([0, 0]);
    });
  });
});
