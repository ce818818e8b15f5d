import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DataSource, migrations, plainOptions } from '../support/storage.js';

/**
 * The first half of the SHA-256 of the SQL that each migration emits. Databases have been made by it: it never changes,
 * wherever it is written. A change of the schema is a new migration, with a line of its own here.
 */
const RELEASED = {
  CreateAccessTokens1763683100000: '6b4bbbbd7ad8b3737bbf2d22ebed606e',
  CreateTimeLogs1763683200000: '9171a3bc38c81d204307d1eb92a183a5',
  CreateTimeLogCounts1763769600000: '59462d17c5caa762d1ec1aee5c9ff4c1',
  CountTimeLogs1763769700000: '8f7f3db4279baf9db5067603c85529e0',
  CreateTimeLogKeys1763856000000: '4a3514934797cf0cb9cba3ef205d3538',
  GuardCountFunctions1763856100000: '025f298164c21967e48296ee90a9d3a4',
  AddTimeLogPositions1764201600000: 'e11bc26dc712b4281db83e2076605bed',
  IndexTimeLogPositions1764201700000: '42e4b41f72b695802e163a04731e0f31',
  CreateTimeLogRelays1764288000000: '8e5e0f988eb350f5548d588c347bbe21',
  AddDurationSums1764547200000: 'd96cfa84680c840be083471ea3ec92d9',
  KeepDurationSums1764547300000: '5afe8c44c662ef9fcfe03f54df14297f',
  RequireDurationSums1764547400000: '46cd454d024134977b1b9e637608ba67',
  SumDurations1764547500000: '9c832bb000c054bd914d07831435f380',
  BindAccessTokens1764806300000: '21f2ae9187710f933ce630102991b33a',
  TellChanges1764547700000: 'a32e22756da4af189c3b6c999131ba6d',
  AddTimeLogAttributes1764892800000: '40a83682df3c2180bc47d5ecbe72f9e6',
  StepFromNearerEnd1764979200000: 'fa69c9a41b457ad51088a216dd1de262',
  ReadShiftWithoutBackslash1765065600000: '44affd316ed20bba796495968caca9b3',
  LimitDurations1765065700000: 'd796106c07a9ba9c0851e06d076ea433',
};

/** Our own DataSource, and one of a host with a schema and a prefix of its own. */
const SOURCES = [{}, { schema: 'elsewhere', entityPrefix: 'our_' }].map(
  (options) => new DataSource({ ...plainOptions('postgres://nobody@localhost/nothing'), ...options }),
);

/** What a migration asks of the database, on its way up and then down; it gets no answers. */
async function statementsOf(migration: MigrationInterface): Promise<unknown[]> {
  const statements: unknown[] = [];
  for (const dataSource of SOURCES) {
    const recorder = {
      dataSource,
      connection: dataSource,
      getCurrentSchema: () => Promise.resolve('public'),
      query: (...statement: unknown[]) => Promise.resolve(void statements.push(statement)),
    };
    await migration.up(recorder as unknown as QueryRunner);
    await migration.down(recorder as unknown as QueryRunner);
  }
  return statements;
}

it('released migrations emit the SQL that they emitted when they were released', async () => {
  const emitted: Record<string, string> = {};
  for (const Migration of migrations) {
    const statements = await statementsOf(new Migration());
    const digest = createHash('sha256').update(JSON.stringify(statements)).digest('hex');
    emitted[new Migration().name] = digest.slice(0, 32);
  }
  expect(emitted).toEqual(RELEASED);
});
