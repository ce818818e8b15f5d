import type { Caller } from '../../../libs/auth/src/index.js';
import type { AllTimeLogValues, TimeLog } from '../domain/time-log.js';
import type { TransactionHandle } from '../domain/transaction-handle.js';

/** What is being done to a log, as hooks are told. */
export interface TimeLogChange {
  readonly kind: 'record' | 'correct' | 'delete';
  /** What is recorded, or what a log gets in the place of its values; they have been checked. */
  readonly values?: AllTimeLogValues | undefined;
  /** Of the log, in lower case. Before a log is recorded it has none. */
  readonly id?: string | undefined;
  /** In `within`: the log as it was stored, or, where it was deleted, as it was. */
  readonly log?: TimeLog | undefined;
  /** Who asks for it; undefined where nobody knows, as for a service that does not say. */
  readonly caller?: Partial<Caller> | undefined;
}

/** What a host does when logs are recorded, corrected or deleted, over HTTP, by messages or by its own code. */
export interface TimeLogHooks {
  /**
   * Before anything is written. It refuses the change by throwing, and that is the answer. It is not asked where an
   * idempotency key has recorded the log already. Where the change is part of a transaction of the caller it gets that,
   * and must ask the database through it: as many as the pool has connections, each waiting for one more, stop it for
   * good.
   */
  before?(change: TimeLogChange, manager?: TransactionHandle): unknown;

  /**
   * After the log was written, in the same transaction, which it rolls back by throwing. It never runs where an
   * idempotency key brings the first answer again. With it each create has a transaction of its own.
   */
  within?(change: TimeLogChange, manager: TransactionHandle): unknown;
}

/** The TimeLogHooks of a host. */
export const TIME_LOG_HOOKS = Symbol.for('time-logs.TIME_LOG_HOOKS');
