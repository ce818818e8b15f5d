import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager, QueryRunner } from 'typeorm';
import type { Connections } from './connections.js';
import {
  RAISE_SYNCHRONOUS_COMMIT,
  replaceTimeoutsSql,
  type Rows,
  sendQuery,
  setTimeoutSql,
  type TextRow,
  type TextStatement,
  withAffected,
} from './statements.js';

/** The timeouts of a transaction, in milliseconds, and the mapping of its errors. */
export interface TransactionOptions {
  /** The time that a statement may wait for a lock. */
  readonly lockTimeout: number;
  /** The time that the whole work may take. */
  readonly timeout: number;
  /** Whether `timeout` replaces the timeouts of the session. By default it applies if the session has none. */
  readonly replacesTimeouts?: boolean;
  /** Maps an error at commit, such as of a deferred constraint; undefined keeps it. */
  readonly mapCommitError: (error: unknown) => Error | undefined;
}

/** The work in a transaction took longer than its timeout, and may still be running. */
export class TransactionTimeoutError extends Error {}

/** A setting that is local to the transaction. It shows whether the transaction is still open. */
const MARKER_SETTING = 'time_logs.transaction';

/** An error that the work has thrown. It is the cause. */
export class WorkError extends Error {}

/**
 * Runs work in a READ COMMITTED transaction, and watches its own statements. Discards a connection
 * that may still be in the transaction. Throws WorkError or TransactionTimeoutError.
 */
export async function runInTransaction<T>(
  runner: QueryRunner,
  work: (manager: EntityManager) => Promise<T>,
  { lockTimeout, timeout, replacesTimeouts = false, mapCommitError }: TransactionOptions,
  connections: Pick<Connections, 'watch' | 'discard'>,
): Promise<T> {
  const begin = [
    'set transaction isolation level read committed',
    RAISE_SYNCHRONOUS_COMMIT,
    setTimeoutSql('lock_timeout', lockTimeout),
    replacesTimeouts ? replaceTimeoutsSql(timeout) : setTimeoutSql('statement_timeout', timeout),
    `select set_config('${MARKER_SETTING}', 'open', true)`,
  ].join(';');
  const watch = <Result>(statement: () => Promise<Result>) => connections.watch(runner, statement);
  const discard = () => connections.discard(runner);
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
    if (error instanceof TransactionTimeoutError) await discard();
    else if (runner.isTransactionActive) await watch(() => runner.rollbackTransaction()).catch(discard);
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

/** Tries to take an advisory lock until the end of the transaction of a runner. Returns whether it has it. */
export async function tryLock(runner: QueryRunner, key: bigint): Promise<boolean> {
  const [row] = (await runner.query(`select pg_try_advisory_xact_lock(${key}) as locked`)) as [
    { locked: boolean },
  ];
  return row.locked;
}

/** Ends a transaction that may still be open, and releases its runner. */
export async function rollBack(runner: QueryRunner): Promise<void> {
  // If the connection is lost, the server rolls back by itself.
  if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
  await runner.release();
}

/** Runs a statement in a transaction of a caller, at any isolation level. */
export async function runWithin(
  runner: QueryRunner,
  statement: TextStatement | string,
  parameters: readonly unknown[] = [],
): Promise<unknown[]> {
  if (typeof statement === 'string') return sendQuery(runner, statement, parameters);
  // Not prepared: behind a pooler, a session that does not know the prepared statement would abort
  // the transaction. As plain text, the host can also log the statements of its transaction.
  const rows = (await sendQuery(runner, statement.text, parameters)) as Rows<object>;
  return withAffected(
    rows.map((row) => Object.values(row) as TextRow),
    rows.affected,
  );
}
