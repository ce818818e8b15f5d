import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager, QueryRunner } from 'typeorm';

/**
 * Starts a transaction with an explicit isolation level. The role, the database or the server may
 * have another default, under which concurrent creates would fail, and a pooler may lose a default
 * of the connection.
 */
const BEGIN_READ_COMMITTED = 'begin isolation level read committed';

/**
 * SQL condition: a commit waits for less than the disk of the server and its synchronous standby.
 */
export const IS_COMMIT_RELAXED = `current_setting('synchronous_commit') in ('off', 'local', 'remote_write')`;
/** SQL expression that makes the commit of the transaction wait for them. */
export const WAIT_FOR_DISK = `set_config('synchronous_commit', 'on', true)`;

/**
 * Makes the commit of the transaction wait for the disk of the server and of its synchronous
 * standby, whatever the setting of the role. It does not change `remote_apply`, which waits for
 * more.
 */
export const RAISE_SYNCHRONOUS_COMMIT = `select ${WAIT_FOR_DISK} where ${IS_COMMIT_RELAXED}`;

/** The rows of a statement, and the number of rows that it wrote or returned. */
export type Rows<Row> = Row[] & { readonly affected?: number | undefined };

/** Adds that number to rows. It is not enumerable, so that the rows still equal rows without it. */
export function withAffected<Row>(rows: Row[], affected: number | undefined): Rows<Row> {
  return Object.defineProperty(rows, 'affected', { value: affected });
}

/** Sends one statement. */
export async function sendQuery<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Rows<Row>> {
  const { records, affected } = await runner.query(sql, parameters as unknown[], true);
  return withAffected(records as Row[], affected);
}

/** A single message, so that it takes a single round trip. */
const BEGIN = `${BEGIN_READ_COMMITTED};${RAISE_SYNCHRONOUS_COMMIT}`;

/** Sets a timeout for the transaction, unless the role, the database or the server has set one. */
const setTimeoutSql = (setting: 'lock_timeout' | 'statement_timeout', milliseconds: number) =>
  `select set_config('${setting}', '${milliseconds}', true) where current_setting('${setting}') = '0'`;

/**
 * Runs one statement in its own transaction: in one round trip if the driver has `pipeline`, else
 * in three. `lockTimeout` is in milliseconds.
 */
export async function sendInTransaction<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[],
  lockTimeout?: number,
): Promise<Rows<Row>> {
  const begin = lockTimeout === undefined ? BEGIN : `${BEGIN};${setTimeoutSql('lock_timeout', lockTimeout)}`;
  const run = () => sendQuery<Row>(runner, sql, parameters);
  const { pipeline } = (await runner.connect()) as { pipeline?: boolean };
  return pipeline ? runPipelined(runner, begin, run) : runStepByStep(runner, begin, run);
}

/** Sends all three statements at once. After an error, the commit is a rollback. */
async function runPipelined<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row>): Promise<Row> {
  const steps = await Promise.allSettled([runner.query(begin), run(), runner.query('commit')]);
  const failed = [steps[1], steps[0], steps[2]].find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return (steps[1] as PromiseFulfilledResult<Row>).value;
}

async function runStepByStep<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row>): Promise<Row> {
  await runner.query(begin);
  let rows: Row;
  try {
    rows = await run();
  } catch (error) {
    // The server rolls back a lost connection by itself.
    await runner.query('rollback').catch(() => undefined);
    throw error;
  }
  await runner.query('commit');
  return rows;
}

/** The timeouts of a transaction, in milliseconds, and the mapping of its errors. */
export interface TransactionOptions {
  /** The time that a statement may wait for a lock. */
  readonly lockTimeout: number;
  /** The time that the whole work may take. */
  readonly timeout: number;
  /** Maps an error at commit, such as of a deferred constraint; undefined keeps it. */
  readonly mapCommitError: (error: unknown) => Error | undefined;
}

/** The work in a transaction took longer than its timeout, and may still be running. */
export class TransactionTimeoutError extends Error {}

/** A setting that is local to the transaction. It shows whether the transaction is still open. */
const MARKER_SETTING = 'time_logs.transaction';

/** An error that the work has thrown. It is the cause. */
export class WorkError extends Error {}

/** Callbacks to the Database that runs a transaction. */
export interface TransactionCallbacks {
  /** Runs a statement of the transaction itself, and watches it until it settles. */
  readonly watch: <T>(statement: () => Promise<T>) => Promise<T>;
  /** Ends the connection. It may still be in a transaction, or the work may still use it. */
  readonly discardConnection: () => Promise<void>;
}

/** Runs work in a READ COMMITTED transaction. Throws WorkError or TransactionTimeoutError. */
export async function runInTransaction<T>(
  runner: QueryRunner,
  work: (manager: EntityManager) => Promise<T>,
  { lockTimeout, timeout, mapCommitError }: TransactionOptions,
  { watch, discardConnection }: TransactionCallbacks,
): Promise<T> {
  const begin = [
    'set transaction isolation level read committed',
    RAISE_SYNCHRONOUS_COMMIT,
    setTimeoutSql('lock_timeout', lockTimeout),
    setTimeoutSql('statement_timeout', timeout),
    `select set_config('${MARKER_SETTING}', 'open', true)`,
  ].join(';');
  try {
    await watch(() => runner.startTransaction());
    await watch(() => runner.query(begin));
    const outcome = await withTimeout(timeout, () => work(runner.manager));
    if (runner.isReleased || !runner.isTransactionActive) throw endedByHook();
    // If the work has caught an SQL error, COMMIT would silently roll back. This statement fails.
    const [row] = (await watch(() =>
      runner.query(`select current_setting('${MARKER_SETTING}', true) as marker`),
    )) as [{ marker: string | null }];
    if (row.marker !== 'open') throw endedByHook();
    await watch(() => runner.commitTransaction()).catch((error: unknown) => {
      const mapped = mapCommitError(error);
      throw mapped ? new WorkError('', { cause: mapped }) : error;
    });
    return outcome;
  } catch (error) {
    // A connection that the work has released may already be in use elsewhere.
    if (runner.isReleased) throw error;
    if (error instanceof TransactionTimeoutError) await discardConnection();
    else if (runner.isTransactionActive)
      await watch(() => runner.rollbackTransaction()).catch(discardConnection);
    throw error;
  }
}

function endedByHook(): WorkError {
  return new WorkError('', {
    cause: new Error('a hook has ended the transaction of its log: hooks must not commit or roll back'),
  });
}

async function withTimeout<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const end = new AbortController();
  const timeout = delay(milliseconds, undefined, { signal: end.signal }).then(() => {
    throw new TransactionTimeoutError();
  });
  try {
    return await Promise.race([timeout, work()]);
  } catch (error) {
    throw error instanceof TransactionTimeoutError ? error : new WorkError('', { cause: error });
  } finally {
    end.abort();
  }
}
