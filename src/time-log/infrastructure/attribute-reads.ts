import type { FairQueue } from '../../../libs/batching/src/index.js';
import { type Database, type ReadLimit, type TextRow, TextStatement } from '../../database/index.js';
import { restOf } from './rest-of.js';

/** The message of the error for a read that takes too long, for clients and for the code of a host. */
const TOO_MANY_MATCH = 'too many logs match: name a project or a shorter period';

/** The share of the deadline that a read may take. The request waits for its error during the rest. */
const READ_SHARE = 0.9;

/** Runs reads whose cost grows with the logs that match: for the callers in rotation, and within a limit of time. */
export class AttributeReads {
  /** The limit of a read that starts at once. */
  readonly limit: ReadLimit;

  /** `wait` is the deadline of a request in milliseconds. */
  constructor(
    private readonly database: Database,
    private readonly queue: FairQueue,
    wait: number,
  ) {
    this.limit = { timeout: Math.ceil(READ_SHARE * wait), message: TOO_MANY_MATCH };
  }

  /** Runs a statement on one snapshot. Throws DomainError SERVICE_UNAVAILABLE if it takes too long. */
  run(caller: string | undefined, sql: string, parameters: readonly unknown[]): Promise<TextRow[]> {
    const rest = restOf(this.limit.timeout);
    // Not prepared: the best index depends on the values.
    return this.queue.run(caller, () =>
      this.database.query(new TextStatement(sql), parameters, { ...this.limit, timeout: rest() }),
    );
  }
}
