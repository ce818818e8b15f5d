import { Limit } from '../../../libs/batching/src/index.js';
import { type Database, type ReadLimit, type TextRow, TextStatement, restOf } from '../../database/index.js';
import type { Period } from '../domain/time-log-query.js';
import { WAIT_SHARE } from '../time-log.limits.js';

/** The message of the error for a read that takes too long, for clients and for the code of a host. */
const TOO_MANY_MATCH = 'too many logs match: name a project or a shorter period';

/** The share of the deadline that a read may take. The request waits for its error during the rest. */
const READ_SHARE = 0.9;

/** Runs reads whose cost grows with the logs, months or projects that they read, in half of the pool. */
export class CostlyReads {
  /** The limit of a read of matching logs that starts at once. */
  readonly limit: ReadLimit;
  private readonly reads: Limit;

  constructor(
    private readonly database: Database,
    /** Returns the number of reads at a time. */
    size: () => number,
    /** The deadline of a request in milliseconds. */
    deadline: number,
  ) {
    this.limit = { timeout: Math.ceil(READ_SHARE * deadline), message: TOO_MANY_MATCH };
    this.reads = new Limit(size, WAIT_SHARE * deadline);
  }

  /** Settles like the read. Throws DomainError SERVICE_UNAVAILABLE if it waits too long. */
  run<T>(caller: string | undefined, read: () => Promise<T>): Promise<T> {
    return this.reads.run(caller, read);
  }

  /** Runs a statement that reads all matching logs. Throws DomainError SERVICE_UNAVAILABLE if it takes too long. */
  query(caller: string | undefined, sql: string, parameters: readonly unknown[]): Promise<TextRow[]> {
    const rest = restOf(this.limit.timeout);
    // Not prepared: the best index depends on the values.
    return this.run(caller, () =>
      this.database.query(new TextStatement(sql), parameters, { ...this.limit, timeout: rest() }),
    );
  }
}

/** Returns the maximum number of rows of monthly counts in a period. `projects` is null for all together. */
export function maxMonthRows(projects: readonly string[] | null, { from, to }: Period): number {
  if (from === undefined || to === undefined) return Infinity;
  const months = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return (months(to) - months(from) + 1) * (projects?.length ?? 1);
}
