import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager, QueryRunner } from 'typeorm';
import { DomainError } from '../../libs/errors/src/index.js';
import type { Statement, TextRow } from './statements.js';

/** An error that the work has thrown, or of work that took too long. */
export class WorkError extends Error {
  constructor(override readonly cause: unknown) {
    super();
  }
}

/**
 * Runs work in a READ COMMITTED transaction. After the timeout it abandons the work and closes the connection, which
 * may still be in the transaction. Throws the errors of the driver, and a WorkError.
 */
export async function runInTransaction<T>(
  runner: QueryRunner,
  work: (manager: EntityManager) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  const connection = (await runner.connect()) as { end(): Promise<void> };
  const close = () => connection.end().catch(() => undefined);
  const end = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: end.signal }).then(() => {
    void close();
    throw new WorkError(new DomainError('SERVICE_UNAVAILABLE'));
  });
  const committed = async () => {
    await runner.startTransaction('READ COMMITTED');
    try {
      const outcome = await work(runner.manager);
      // If the work has caught an SQL error or ended the transaction, COMMIT would not fail. This statement does.
      await runner.query('savepoint done');
      return outcome;
    } catch (error) {
      await runner.rollbackTransaction().catch(close);
      throw new WorkError(error);
    }
  };
  try {
    const outcome = await Promise.race([late, committed()]);
    await Promise.race([late, runner.commitTransaction()]);
    return outcome;
  } finally {
    end.abort();
  }
}

/** Ends a transaction that may still be open, and releases its runner. */
export async function rollBack(runner: QueryRunner): Promise<void> {
  // If the connection is lost, the server rolls back by itself.
  if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
  await runner.release();
}

/** Runs a statement in a transaction of a caller, at any isolation level. Returns its rows. */
export async function runWithin(
  runner: QueryRunner,
  statement: Statement,
  parameters: readonly unknown[] = [],
): Promise<unknown[]> {
  // A plain text: the host may log the statements of its transaction.
  const isText = typeof statement !== 'string';
  const { records } = await runner.query(isText ? statement.text : statement, parameters as unknown[], true);
  const rows = records as object[];
  return isText ? rows.map((row) => Object.values(row) as TextRow) : rows;
}
