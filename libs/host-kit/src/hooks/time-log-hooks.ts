import type { Caller } from '../../../auth/src/index.js';
import type { AllTimeLogValues, TimeLog, TransactionHandle } from '../../../../src/time-log/index.js';

/** A change of a log, as hooks receive it. */
export interface TimeLogChange {
  readonly kind: 'record' | 'correct' | 'delete';
  /** The checked values of the new or corrected log. */
  readonly values?: AllTimeLogValues | undefined;
  /** The id of the log in lower case; undefined before a log is recorded. */
  readonly id?: string | undefined;
  /** In `within`: the stored log, or the deleted one. */
  readonly log?: TimeLog | undefined;
  /** The caller; undefined if it is unknown, such as for a call of a service without one. */
  readonly caller?: Partial<Caller> | undefined;
}

/**
 * The hooks of a host for changes of logs, over HTTP, by messages and by its own code. They run for each log of a
 * batch, in order.
 */
export interface TimeLogHooks {
  /**
   * Runs before anything is written. An error rejects the change and becomes the response. It does not run if
   * an idempotency key has recorded the log already. If the change is part of a transaction of the caller, it
   * must query the database through `manager`: a second connection for each transaction can deadlock the pool.
   */
  before?(change: TimeLogChange, manager?: TransactionHandle): unknown;

  /**
   * Runs after the log was written, in the same transaction. An error rolls that back. It does not run if an
   * idempotency key has recorded the log already. With it each create has a transaction of its own.
   */
  within?(change: TimeLogChange, manager: TransactionHandle): unknown;
}

/** The injection token of the TimeLogHooks of a host. */
export const TIME_LOG_HOOKS = Symbol.for('time-logs.TIME_LOG_HOOKS');
