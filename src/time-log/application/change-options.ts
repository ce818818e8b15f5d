import type { TimeLogStore, TimeLogWrites, TransactionHandle } from '../domain/time-log.repository.js';
import type { CallOptions } from './access.js';

/** The options for a change, or for a read in a transaction. */
export interface RecordOptions extends CallOptions {
  /**
   * A transaction of the caller, in which the log is changed or read. It should be READ COMMITTED: with other
   * isolation levels it may fail if others change logs at the same time.
   */
  readonly manager?: TransactionHandle | undefined;
  /**
   * The time in milliseconds that `record`, `recordOnce`, `recordAll` and `recordAllOnce` wait in the write queue, even
   * if it is full. The statement of a batch and a transaction with hooks may take the rest of it. By default a full
   * queue is an error, and the wait is limited by `limits.deadline`.
   */
  readonly deadline?: number | undefined;
}

/** The options for correcting or deleting a log. */
export interface ChangeOptions extends RecordOptions {
  /** The entity tags of the versions that the change may replace; undefined: any. */
  readonly ifMatch?: readonly string[] | undefined;
  /** The entity tags of the versions that the change must not replace; `*` is each. */
  readonly ifNoneMatch?: readonly string[] | undefined;
}

/**
 * Wraps the methods that make the changes of a call, such as with the hooks of a host. `record` then returns the logs
 * with the values that a hook has replaced.
 */
export type WrapWrites = (store: TimeLogStore, options: RecordOptions) => TimeLogWrites;

/** The injection token of an optional WrapWrites. */
export const WRAP_WRITES = Symbol.for('time-logs.WRAP_WRITES');
