import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager, QueryRunner } from 'typeorm';

/**
 * Always names the isolation level: role, database or server may have another default, under which concurrent creates
 * would fail. A default that the connection sets may get lost in a pooler.
 */
const ISOLATED = 'begin isolation level read committed';

/** Conditions and values of SQL, for the commit of the transaction around them. */
export const WAITS_FOR_LESS = `current_setting('synchronous_commit') in ('off', 'local', 'remote_write')`;
export const WAIT_FOR_DISK = `set_config('synchronous_commit', 'on', true)`;

/**
 * Makes the commit of this transaction wait for the disk, here and on the synchronous standby: any role may have been
 * told to wait for less, at any time. Leaves `remote_apply`, which waits for more.
 */
export const RAISE_SYNCHRONOUS_COMMIT = `select ${WAIT_FOR_DISK} where ${WAITS_FOR_LESS}`;

/** The rows of a statement, and how many rows it has written or, if it only reads, returned. */
export type Rows<Row> = Row[] & { readonly affected?: number | undefined };

/** Notes that number on rows, so that they still equal rows without it. */
export function withAffected<Row>(rows: Row[], affected: number | undefined): Rows<Row> {
  return Object.defineProperty(rows, 'affected', { value: affected });
}

/** Sends one statement. */
export async function sent<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Rows<Row>> {
  const { records, affected } = await runner.query(sql, parameters as unknown[], true);
  return withAffected(records as Row[], affected);
}

/** One message, so it takes no further round trip. */
const BEGIN = `${ISOLATED};${RAISE_SYNCHRONOUS_COMMIT}`;

/** A limit of time in this transaction, where neither role, database nor server has set one. */
const limited = (setting: 'lock_timeout' | 'statement_timeout', milliseconds: number) =>
  `select set_config('${setting}', '${milliseconds}', true) where current_setting('${setting}') = '0'`;

/** BEGIN, with a limit for each wait for others. */
const beginWithWait = (milliseconds: number) => `${BEGIN};${limited('lock_timeout', milliseconds)}`;

/**
 * Runs one statement in its own transaction. It takes one round trip if the driver has `pipeline`, else three. With
 * `rowWait` it waits for a row that others hold no longer than so many milliseconds.
 */
export async function inTransaction<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[],
  rowWait?: number,
): Promise<Rows<Row>> {
  const begin = rowWait === undefined ? BEGIN : beginWithWait(rowWait);
  const run = () => sent<Row>(runner, sql, parameters);
  const { pipeline } = (await runner.connect()) as { pipeline?: boolean };
  return pipeline ? atOnce(runner, begin, run) : stepByStep(runner, begin, run);
}

/** Sends all three at once. If the statement fails, the server turns the commit into a rollback. */
async function atOnce<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row>): Promise<Row> {
  const steps = await Promise.allSettled([runner.query(begin), run(), runner.query('commit')]);
  const failed = [steps[1], steps[0], steps[2]].find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return (steps[1] as PromiseFulfilledResult<Row>).value;
}

async function stepByStep<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row>): Promise<Row> {
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

/** The limits of a transaction, in milliseconds, and what its end may refuse. */
export interface TransactionOptions {
  /** The most that it waits for a row that others hold. */
  readonly rowWait: number;
  /** The most that the work in it may take. */
  readonly whole: number;
  /** The error that a caller gets for one of the end, such as of a deferred constraint; undefined: that itself. */
  readonly refusalOf: (error: unknown) => Error | undefined;
}

/** The work in a transaction took longer than its limit, and may go on. */
export class OverdueTransaction extends Error {}

/** A setting of the transaction, which ends with it. */
const MARK = 'time_logs.transaction';

/** What the work itself has thrown, whatever it is. */
export class FailedWork extends Error {}

/** What a transaction needs of the door to SQL. */
export interface Care {
  /** Runs a statement of ours, and looks after it until it settles. */
  readonly watched: <T>(statement: () => Promise<T>) => Promise<T>;
  /** Ends the connection: nobody knows whether it is still in a transaction, or the work may go on to use it. */
  readonly giveUp: () => Promise<void>;
}

/**
 * Runs work in a READ COMMITTED transaction, and commits that. Throws FailedWork, whose cause is what the work has
 * thrown, or OverdueTransaction.
 */
export async function transacted<T>(
  runner: QueryRunner,
  work: (manager: EntityManager) => Promise<T>,
  { rowWait, whole, refusalOf }: TransactionOptions,
  { watched, giveUp }: Care,
): Promise<T> {
  const begin = [
    'set transaction isolation level read committed',
    RAISE_SYNCHRONOUS_COMMIT,
    limited('lock_timeout', rowWait),
    limited('statement_timeout', whole),
    `select set_config('${MARK}', 'open', true)`,
  ].join(';');
  try {
    await watched(() => runner.startTransaction());
    await watched(() => runner.query(begin));
    const outcome = await withinTime(whole, () => work(runner.manager));
    if (runner.isReleased || !runner.isTransactionActive) throw ended();
    // Where the work has hidden an error of a statement, COMMIT would roll back, and say nothing. This says it.
    const [mark] = (await watched(() => runner.query(`select current_setting('${MARK}', true) as mark`))) as [
      { mark: string | null },
    ];
    if (mark.mark !== 'open') throw ended();
    await watched(() => runner.commitTransaction()).catch((error: unknown) => {
      const refusal = refusalOf(error);
      throw refusal ? new FailedWork('', { cause: refusal }) : error;
    });
    return outcome;
  } catch (error) {
    // A connection that the work has released may be somebody else's by now.
    if (runner.isReleased) throw error;
    if (error instanceof OverdueTransaction) await giveUp();
    else if (runner.isTransactionActive) await watched(() => runner.rollbackTransaction()).catch(giveUp);
    throw error;
  }
}

function ended(): FailedWork {
  return new FailedWork('', {
    cause: new Error('a hook has ended the transaction of its log: leave that to time logs'),
  });
}

async function withinTime<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const end = new AbortController();
  const overdue = delay(milliseconds, undefined, { signal: end.signal }).then(() => {
    throw new OverdueTransaction();
  });
  try {
    return await Promise.race([overdue, work()]);
  } catch (error) {
    throw error instanceof OverdueTransaction ? error : new FailedWork('', { cause: error });
  } finally {
    end.abort();
  }
}
