import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { connected, firstColumn, PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../eventually.js';
import { ask } from './support/ask.js';
import { canMount, SmallDisk } from './support/full-disk.js';
import { recovered, refusedCreates, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const itWithDisk = canMount ? it : it.skip;
const FULL = /No space left on device/;

/** Has each create run a function in PL/pgSQL, until its trigger is dropped. */
const beforeEachCreate = (url: string, body: string, more = '') =>
  queryOnce(
    url,
    `${more}; create function meddle() returns trigger language plpgsql as $$ begin ${body} return null; end $$;
     create trigger meddle before insert on time_logs for each statement execute function meddle()`,
  );
const meddleNoMore = (url: string) => queryOnce(url, 'drop trigger meddle on time_logs');

describe('a service whose database refuses what it is asked', () => {
  const postgres = useCluster({ deadlock_timeout: '100ms' });

  it('answers 503 to creates of a read-only database, lists on, and recovers by itself', () =>
    underWrites({ database: postgres }, async (scene) => {
      await postgres.configure({ default_transaction_read_only: 'on' });
      await refusedCreates(scene, 40);
      expect(await ask(`${scene.service.url}/api/v1/time-logs`)).toMatchObject({ status: 200 });
      await postgres.configure({ default_transaction_read_only: null });
      await recovered(scene);
    }));

  itWithDisk(
    'answers 503 while the disk of the table is full (where a disk can be mounted), and recovers by itself',
    async () => {
      const place = join(postgres.place, 'disk');
      await mkdir(place);
      const disk = SmallDisk.mount(place, '2m', postgres.owner);
      const tablespace = `small_${process.pid}`;
      try {
        await postgres.query(`create tablespace ${tablespace} location '${disk.path}'`);
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

  itWithDisk(
    'answers 503 while the disk of the whole database is full (where a disk can be mounted), and serves when there is room',
    async () => {
      let disk!: SmallDisk;
      const whole = await PostgresCluster.create({}, (place) => (disk = SmallDisk.mount(place, '150m')));
      try {
        await underWrites({ database: whole }, async (scene) => {
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

  it.each([
    ['a full disk', '53100'],
    ['lack of memory', '53200'],
    ['an input or output error', '58030'],
    ['a lock that it does not get', '55P03'],
    ['a statement that is cancelled', '57014'],
    ['a serialization failure', '40001'],
  ])('answers 503 to %s (%s), does not repeat the statement, and recovers by itself', (_what, state) =>
    underWrites({ database: postgres }, async (scene) => {
      const refuse = `perform nextval('attempts'); raise exception using errcode = '${state}', message = 'refused';`;
      await beforeEachCreate(scene.url, refuse, 'create sequence attempts');
      await refusedCreates(scene, 40);
      await meddleNoMore(scene.url);
      await recovered(scene);
      // A sequence counts also what was rolled back.
      const [attempts] = await firstColumn(scene.url, 'select last_value from attempts');
      expect(Number(attempts)).toBeLessThanOrEqual(scene.ledger.count('refused'));
    }),
  );

  it('answers 503 to the victim of a deadlock, and recovers by itself', () =>
    underWrites({ database: postgres }, async (scene) => {
      const { url } = scene;
      const opponent = await connected(postgres.asSuperuser(url));
      try {
        await opponent.query("set deadlock_timeout = '1min'");
        await opponent.query('begin; select pg_advisory_xact_lock(2)');
        await beforeEachCreate(
          url,
          `perform pg_advisory_xact_lock(1);
           while not exists (select from pg_locks where locktype = 'advisory' and not granted) loop
             perform pg_sleep(0.01);
           end loop;
           perform pg_advisory_xact_lock(2);`,
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
      await meddleNoMore(url);
      await recovered(scene);
    }));

  it('stores a create that waited for a row, whatever the isolation of transactions is by default', async () => {
    const url = await postgres.createDatabase();
    const name = new URL(url).pathname.slice(1);
    await postgres.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
    await underWrites({ database: url }, async ({ writers, ledger }) => {
      const opponent = await connected(url);
      try {
        const increase = 'update counter set creates = creates + 1';
        await beforeEachCreate(url, `${increase};`, 'create table counter as select 0 as creates');
        await opponent.query(`begin isolation level read committed; ${increase}`);
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
