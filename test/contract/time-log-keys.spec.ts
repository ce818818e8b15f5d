import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { type IdempotencyKey, TimeLog, TypeOrmTimeLogRepository } from '../../src/time-log/index.js';
import { Database } from '../../src/database/index.js';
import type { DataSource } from 'typeorm';
import { limits, repositoryOver, useDatabase } from '../support/storage.js';
import { recordOnce } from './sample-logs.js';

const values = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };
let lastId = 0;
const newLog = () => TimeLog.of(values, `019c1370-4e1b-7000-8000-${String((lastId += 1)).padStart(12, '0')}`);
const newKey = (): IdempotencyKey => ({ caller: 'alice', text: randomUUID() });

const keep = (sql: DataSource, key: IdempotencyKey, age: string) =>
  sql.query(
    `insert into time_log_keys (principal, text, fingerprint, logs, created_at)
     values ($1, $2, '', '[]', now() - $3::interval)`,
    [key.caller, key.text, age],
  );

describe('idempotency keys in PostgreSQL', () => {
  const database = useDatabase();
  /** As of several instances of the service. */
  let instances: TypeOrmTimeLogRepository[];
  /** The test's own: without limits, so that it can stand still in the middle of a transaction. */
  let sql: DataSource;

  beforeAll(async () => {
    sql = database.dataSource;
    const sources = await Promise.all([1, 2, 3].map(() => database.openAsService(limits)));
    instances = sources.map((source) => new TypeOrmTimeLogRepository(new Database(source)));
  });

  const count = async (table: string) => {
    const [row] = await sql.query<{ n: number }[]>(`select count(*)::int as n from ${table}`);
    return row!.n;
  };
  it('make one log of many creates over several instances', async () => {
    for (let round = 0; round < 5; round++) {
      const key = newKey();
      const before = await count('time_logs');
      const ids = await Promise.all(
        Array.from({ length: 51 }, (_, index) => recordOnce(instances[index % 3]!, newLog(), key)),
      );
      expect(new Set(ids).size).toBe(1);
      expect(await count('time_logs')).toBe(before + 1);
    }
  });

  it('make one log each where several instances take many keys at once, in any order', async () => {
    const keys = Array.from({ length: 60 }, newKey);
    const before = await count('time_logs');
    const idsOf = await Promise.all(
      instances.map((instance, index) => {
        const ordered = index === 1 ? keys.toReversed() : keys;
        return Promise.all(
          ordered.map(async (key) => [key.text, await recordOnce(instance, newLog(), key)] as const),
        );
      }),
    );
    const [first, ...others] = idsOf.map((pairs) => Object.fromEntries(pairs));
    for (const other of others) expect(other).toEqual(first);
    expect(await count('time_logs')).toBe(before + 60);
  });

  it('do not delay others while another instance is using one, and are compared when it is done', async () => {
    const [used, free] = [newKey(), newKey()];
    const log = newLog();
    // An instance that has written and is stopped before its commit.
    const stopped = await database.transaction();
    const patient = repositoryOver(sql);
    await recordOnce(patient.within(stopped.manager), log, used);
    let isWaiting = true;
    const held = recordOnce(patient, newLog(), used).finally(() => (isWaiting = false));
    const other = newLog();
    expect(await recordOnce(patient, other, free)).toBe(other.id);
    await expect(recordOnce(instances[0]!, newLog(), used)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(isWaiting).toBe(true);
    await stopped.commitTransaction();
    expect(await held).toBe(log.id);
  });

  it('bring the first log, whatever SQL has made of it, and wait for nobody who is changing it', async () => {
    const [key, log] = [newKey(), newLog()];
    const retries = () => Promise.all(instances.map((instance) => recordOnce(instance, newLog(), key)));
    await recordOnce(instances[0]!, log, key);
    const before = await count('time_logs');
    for (const statement of [
      `update time_logs set duration = 2, description = 'corrected' where id = $1`,
      'delete from time_logs where id = $1',
    ]) {
      await sql.transaction(async (other) => {
        await other.query(statement, [log.id]);
        expect(await retries()).toEqual(instances.map(() => log.id));
      });
      expect(await retries()).toEqual(instances.map(() => log.id));
    }
    expect(await count('time_logs')).toBe(before - 1);
    const corrected = TimeLog.of({ ...values, duration: 2 }, newLog().id);
    await expect(recordOnce(instances[0]!, corrected, key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
  });

  it('hold for 24 hours, and make a new log afterwards', async () => {
    const [young, old] = [newKey(), newKey()];
    await keep(sql, young, '23 hours 59 minutes');
    await keep(sql, old, '24 hours 1 minute');
    await expect(recordOnce(instances[0]!, newLog(), young)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    const log = newLog();
    expect(await recordOnce(instances[0]!, log, old)).toBe(log.id);
    expect(await recordOnce(instances[1]!, newLog(), old)).toBe(log.id);
  });

  it('are removed when they have expired, without a look at the others', async () => {
    await sql.query(
      `insert into time_log_keys (principal, text, fingerprint, logs, created_at)
       select 'bob', n::text, '', '[]', now() - interval '1 day' - n * interval '1 second'
         from generate_series(1, 2500) n`,
    );
    await sql.query(
      `insert into time_log_keys (principal, text, fingerprint, logs)
       select 'carol', n::text, '', '[]' from generate_series(1, 20000) n`,
    );
    await sql.query('analyze time_log_keys');
    // An instance looks for expired keys with its first keyed create, and then once a minute at most.
    await recordOnce(new TypeOrmTimeLogRepository(new Database(sql)), newLog(), newKey());
    const expired = `time_log_keys where created_at < now() - interval '1 day'`;
    await eventually(async () => expect(await count(expired)).toBe(0));
    expect(await count(`time_log_keys where principal = 'bob'`)).toBe(0);
    const plan = await sql.query<{ 'QUERY PLAN': string }[]>(
      `explain select principal, text from ${expired} order by created_at limit 1000 for update skip locked`,
    );
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('time_log_keys_created_at_idx');
  });
});
