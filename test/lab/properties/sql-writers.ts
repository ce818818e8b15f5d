import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { keepTimeLogPositions } from '../../../src/feed/index.js';
import { FIRST_PROJECT, insert, newLog } from '../../support/feed-traffic.js';

/** Milliseconds for which a transaction is open at most, between two of its statements. */
const LONGEST = 25;

/** Those of new logs first. */
export const PROJECTS = [FIRST_PROJECT, randomUUID(), randomUUID()];
const one = <T>(all: readonly T[]): T => all[randomInt(all.length)]!;
const values = () =>
  `project_id = '${one(PROJECTS)}', duration = ${1 + randomInt(3)}, description = '${randomInt(3)}'`;

type Change = (runner: QueryRunner) => Promise<void>;

/**
 * Some logs of which nobody else has a lock: writers wait for each other in no order, and a deadlock takes a second.
 */
async function some(runner: QueryRunner, most: number): Promise<string[]> {
  const rows = (await runner.query(
    `select id from time_logs where date > '1999-01-01' order by random() limit ${most} for update skip locked`,
  )) as { id: string }[];
  return rows.map(({ id }) => id);
}

/** A statement about some logs, at most so many. */
const toSome =
  (most: number, statement: () => string): Change =>
  async (runner) => {
    await runner.query(`${statement()} where id = any($1)`, [await some(runner, most)]);
  };

/** What SQL by hand does to logs. */
export const CHANGES: Readonly<Record<string, Change>> = {
  insert: (runner) => insert(runner, newLog()),
  'insert and update': async (runner) => {
    const log = newLog();
    await insert(runner, log);
    await runner.query(`update time_logs set ${values()} where id = $1`, [log.id]);
  },
  update: toSome(1, () => `update time_logs set ${values()}`),
  'update of many': toSome(20, () => `update time_logs set ${values()}`),
  'update of nothing': toSome(5, () => 'update time_logs set duration = duration'),
  delete: toSome(1, () => 'delete from time_logs'),
  'delete of many': toSome(5, () => 'delete from time_logs'),
  'delete and insert': async (runner) => {
    const ids = await some(runner, 3);
    await runner.query('delete from time_logs where id = any($1)', [ids]);
    for (const id of ids.slice(1)) await insert(runner, Object.assign(newLog(), { id }));
  },
  'another id': async (runner) => {
    for (const id of await some(runner, 1))
      await runner.query('update time_logs set id = $2 where id = $1', [id, newLog().id]);
  },
  'a position': toSome(2, () => `update time_logs set position = ${one(['1', 'default', 'position - 1'])}`),
  'a part that is undone': async (runner) => {
    await runner.query('savepoint part');
    for (const change of ['update', 'delete of many', 'insert']) await CHANGES[change]!(runner);
    await runner.query('rollback to savepoint part');
    await insert(runner, newLog());
  },
};

/**
 * Some changes in one transaction, which is open for a while, and then committed, prepared and committed, or rolled
 * back.
 */
export async function transact(dataSource: DataSource, canPrepare: boolean): Promise<void> {
  const runner = dataSource.createQueryRunner();
  await runner.query('begin');
  try {
    for (let left = 1 + randomInt(3); left > 0; left--) {
      await CHANGES[one(Object.keys(CHANGES))]!(runner);
      await delay(randomInt(LONGEST));
    }
    const end = randomInt(4);
    if (end === 0) await runner.query('rollback');
    else if (end === 1 && canPrepare) {
      const name = randomUUID();
      await runner.query(`prepare transaction '${name}'`);
      await delay(randomInt(LONGEST));
      await runner.query(`commit prepared '${name}'`);
    } else await runner.query('commit');
  } catch (error) {
    await runner.query('rollback');
    // A transaction that saw the same log, or wanted the same rows, may be refused.
    if (!/^(40|23505)/.test(String((error as { code?: unknown }).code))) throw error;
  } finally {
    await runner.release();
  }
}

/** A transaction that others overtake: they have higher numbers, and commit before it. */
export async function overtaken(dataSource: DataSource, meanwhile: () => Promise<unknown>): Promise<void> {
  const late = dataSource.createQueryRunner();
  await late.query('begin');
  await late.query('select pg_current_xact_id()');
  const early = dataSource.createQueryRunner();
  await insert(early, newLog());
  await early.release();
  await meanwhile();
  for (const change of ['insert', 'update', 'delete']) await CHANGES[change]!(late);
  await late.query('commit');
  await late.release();
}

/**
 * A transaction whose snapshot is from before positions are moved. Its logs are of years in which nobody else writes:
 * counts of others cannot be changed in an older snapshot.
 */
export async function acrossMove(
  dataSource: DataSource,
  isolation: 'repeatable read' | 'serializable',
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const date = isolation === 'serializable' ? '1901-01-01' : '1801-01-01';
  const [corrected, deleted] = [newLog(), newLog()];
  const late = dataSource.createQueryRunner();
  for (const log of [corrected, deleted]) await insert(late, log, date);
  await late.query(`begin isolation level ${isolation}`);
  await late.query('select from access_tokens');
  await dataSource.transaction(({ queryRunner }) => keepTimeLogPositions(queryRunner!));
  await dataSource.transaction(({ queryRunner }) => CHANGES.insert!(queryRunner!));
  await meanwhile();
  await late.query(`update time_logs set duration = duration + 1 where id = $1`, [corrected.id]);
  await late.query('delete from time_logs where id = $1', [deleted.id]);
  await insert(late, newLog(), date);
  await late.query('commit');
  await late.release();
}
