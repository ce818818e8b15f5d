import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { Backends, type DatabaseServer } from './backends.js';

/** Makes `pg_stat_activity` look as if the clock has been set back by an hour. */
const SET_CLOCK_BACK = [
  'create schema ahead',
  `create view ahead.pg_stat_activity as
     select pid, usename, datname, wait_event, state,
            xact_start + interval '1 hour' as xact_start, state_change + interval '1 hour' as state_change
       from pg_catalog.pg_stat_activity`,
  'alter role current_user set search_path = public, ahead, pg_catalog',
];

/** Reports another process than that of its backend, as a pooler does. */
class PooledClient extends pg.Client {
  static {
    Object.defineProperty(this.prototype, 'processID', { get: () => 0, set: () => undefined });
  }
}

describe('Backends, after the clock of the server was set back', () => {
  let database: TestDatabase;
  let sources: DataSource[];
  const open = async () => {
    const source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    sources.push(source);
    return source;
  };

  beforeEach(async () => {
    [database, sources] = [await createTestDatabase(), []];
    const owner = await open();
    for (const statement of SET_CLOCK_BACK) await owner.query(statement);
  });
  afterEach(async () => {
    for (const source of sources) await source.destroy();
    await database.drop();
  });

  it('do not work while they wait for their client', async () => {
    const source = await open();
    const runner = source.createQueryRunner();
    const { processID } = (await runner.connect()) as { processID: number };
    const backends = await Backends.read(source);
    expect(backends.workingFor(processID)).toBeUndefined();
    await backends.close();
  });

  it('are read from the server of a connection, with replication, while others are away', async () => {
    const runner = (await open()).createQueryRunner();
    const connection = (await runner.connect()) as DatabaseServer & { processID: number };
    const [master, other] = [1, 2].map((port) => ({ host: '127.0.0.1', port }));
    const replication = { master: master!, slaves: [other!] };
    const backends = await Backends.read(new DataSource({ type: 'postgres', replication }), connection);
    expect(backends.workingFor(connection.processID)).toBeUndefined();
    await backends.close();
  });

  it('may work for long, behind a pooler', async () => {
    const runner = (await open()).createQueryRunner();
    await runner.startTransaction();
    await runner.query('select pg_advisory_xact_lock(1)');
    const working = (await open()).query('select pg_advisory_xact_lock(1)');
    const extra = { Client: PooledClient };
    const backends = await Backends.read(new DataSource({ type: 'postgres', url: database.url, extra }));
    expect(backends.workingFor(null)).toMatchObject({ waitsFor: 'advisory', isLong: true });
    await backends.close();
    await runner.rollbackTransaction();
    await working;
  });
});
