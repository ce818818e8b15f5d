import { Limit } from '../../../libs/batching/src/index.js';
import {
  type Database,
  PreparedStatement,
  type ReadLimit,
  restOf,
  type TextRow,
  TextStatement,
} from '../../database/index.js';
import { TimeLog } from '../domain/time-log.js';
import type { Period } from '../domain/time-log-query.js';
import { WAIT_SHARE } from '../time-log.limits.js';
import type { MatchingLogs } from './time-log-conditions.js';

/** The message of the error for a read that takes too long, for clients and for the code of a host. */
const TOO_MANY_MATCH = 'too many logs match: name a project or a shorter period';

/** The share of the deadline that a read may take. The request waits for its error during the rest. */
const READ_SHARE = 0.9;

/**
 * The maximum numbers of logs that a cheap read skips or returns, and of rows of monthly counts that it adds up. Those
 * of groups by period cost more.
 */
export const CHEAP_READ = { logs: 5_000, monthRows: 1_000, monthRowsByPeriod: 128 };

/** Runs reads whose cost grows with the logs, months or projects that they read, in half of the pool. */
export class CostlyReads {
  /** The limit of a read of matching logs that starts at once. */
  readonly limit: ReadLimit;
  private readonly reads: Limit;

  constructor(
    private readonly database: Database,
    /** Returns the number of reads at a time. */
    size: () => number,
    /** The deadline of a request. */
    deadlineMs: number,
  ) {
    this.limit = { timeoutMs: Math.ceil(READ_SHARE * deadlineMs), message: TOO_MANY_MATCH };
    this.reads = new Limit(size, WAIT_SHARE * deadlineMs);
  }

  /** Settles like the read. Throws DomainError SERVICE_UNAVAILABLE if it waits too long. */
  run<T>(callerId: string | undefined, read: () => Promise<T>): Promise<T> {
    return this.reads.run(callerId, read);
  }

  /**
   * Runs a statement that reads all matching logs, whose SQL is that for their condition. Throws DomainError
   * SERVICE_UNAVAILABLE if it takes too long.
   */
  query(
    callerId: string | undefined,
    { condition, byDate, parameters }: MatchingLogs,
    sqlFor: (condition: string) => string,
  ): Promise<TextRow[]> {
    const { database, limit } = this;
    const restMs = restOf(limit.timeoutMs);
    const run = (statement: TextStatement, values: readonly unknown[]) =>
      database.query(statement, values, { ...limit, timeoutMs: restMs() });
    return this.run(callerId, async () => {
      const sql = byDate?.isFaster(database.table(TimeLog), database.routine('sum_time_logs'));
      const isByDate = sql && (await run(new PreparedStatement(sql), byDate!.parameters)).length > 0;
      // Not prepared: the best index depends on the values.
      return run(new TextStatement(sqlFor(isByDate ? byDate!.condition : condition)), parameters);
    });
  }
}

/** Returns the maximum number of rows of monthly counts in a period. `projects` is null for all together. */
export function maxMonthRows(projects: readonly string[] | null, { from, to }: Period): number {
  if (from === undefined || to === undefined) return Infinity;
  const months = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return (months(to) - months(from) + 1) * (projects?.length ?? 1);
}
