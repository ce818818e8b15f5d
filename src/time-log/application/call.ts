import type { Access } from '../domain/access.js';
import type { Transaction } from '../domain/transaction.js';

/** Who asks for a change, as a guard or a principal knows it. */
export interface TimeLogCaller {
  readonly id?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
}

/** For whom something is done. */
export interface CallOptions {
  /** All projects, unless it says otherwise: the code of a host is trusted. */
  readonly access?: Access | undefined;
  /** The caller, for hooks. Costly reads and changes run for the callers in rotation, by their ids. */
  readonly caller?: TimeLogCaller | undefined;
}

/** How a log is recorded, corrected or deleted. */
export interface RecordOptions extends CallOptions {
  /**
   * A transaction of the caller: the change is committed or rolled back with it, and shares no commit with others. Its
   * isolation level is READ COMMITTED, or it may fail where others change logs at the same time.
   */
  readonly manager?: Transaction | undefined;
}
