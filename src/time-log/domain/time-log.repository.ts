import { DomainError, type ErrorKind } from '../../../libs/errors/src/domain-error.js';
import type { RequestKey } from './idempotency-key.js';
import type { PageRequest, TimeLogAccess, TimeLogFilter } from './time-log-query.js';
import type { TimeLogItems } from './time-log-item.js';
import type { Attributes, StoredTimeLog, TimeLog } from './time-log.js';

/** A transaction that a caller begins and ends, as the store knows it: with TypeORM its entity manager. */
export interface TransactionHandle {
  readonly queryRunner?: object | undefined;
}

/** The logs of one page, and the number of matching logs, from one snapshot. */
export interface TimeLogPage<A extends Attributes = Attributes> {
  readonly logs: readonly TimeLog<A>[];
  readonly total: number;
}

/** The error for deleting a log that tables of a host refer to. */
export const TIME_LOG_IN_USE: ErrorKind = {
  code: 'CONFLICT',
  status: 409,
  message: 'other records refer to this time log',
};

/** The error for a log that violates a constraint which a host added to the tables. */
export const CONSTRAINT_VIOLATED: ErrorKind = {
  code: 'CONFLICT',
  status: 409,
  message: 'the database refuses this time log: it violates a constraint',
};

/** The error for a change of a log that no longer has the values that the caller has seen. */
export const TIME_LOG_CHANGED: ErrorKind = {
  code: 'PRECONDITION_FAILED',
  status: 412,
  message: 'the log has changed since: get it again',
};

/** The log changed between the reads and the write of one call, which then reads it again. */
export class TimeLogChangedError extends DomainError {
  constructor() {
    super(TIME_LOG_CHANGED);
  }
}

/** The error for a change of a version that the caller has excluded. */
export const VERSION_EXCLUDED: ErrorKind = {
  code: 'PRECONDITION_FAILED',
  status: 412,
  message: 'If-None-Match excludes this version of the log: send If-Match with the version to change',
};

/**
 * A log as it was answered. Only its id is known if a key of version 0.3 recorded it with the values that were sent.
 */
export type AnsweredLog = StoredTimeLog | Pick<StoredTimeLog, 'id'>;

/** The new logs that were stored or, if the key was used before, those that were stored with it. */
export type Recorded =
  | { readonly isReplay: false; readonly logs: readonly TimeLog[] }
  | { readonly isReplay: true; readonly logs: readonly AnsweredLog[] };

/** The options for storing new logs. */
export interface StoreOptions {
  readonly key?: RequestKey | undefined;
  readonly callerId?: string | undefined;
  readonly deadlineMs?: number | undefined;
}

/** The options for a transaction. */
export interface TransactOptions extends Omit<StoreOptions, 'key'> {
  /** Work with the same key runs one at a time. */
  readonly queueKey?: string | undefined;
  /** Whether it stores several logs, and so enters the queue of batches. */
  readonly isBatch?: boolean | undefined;
}

/** The methods that change logs. */
export type TimeLogWrites = Pick<TimeLogRepository, 'record' | 'correct' | 'delete'>;

/** The methods that change logs, and the reads that they need: also those of a transaction of the caller. */
export type TimeLogStore = TimeLogWrites & Pick<TimeLogRepository, 'findByKey' | 'get'>;

/**
 * The port to the store of time logs. All methods throw DomainError SERVICE_UNAVAILABLE if it is unavailable.
 * Logs outside the access count as missing. `callerId` is the id of the client: limits are shared among callers. With
 * `deadlineMs` a call waits that long in the queue, however many calls wait already, and a batch or transaction may
 * take the rest; by default all three are limited. Methods that change logs throw DomainError CONFLICT if a constraint
 * of a host rejects the change.
 */
export abstract class TimeLogRepository {
  /**
   * Stores one or more logs in one transaction: all of them, or none. Resolves with them when they are durable. With a
   * key, stores it with the logs, unless it was used during its lifetime, 24 hours by default: then it resolves with
   * the logs that were stored with it, as they were answered, and throws DomainError IDEMPOTENCY_KEY_REUSED if other
   * values were sent. A batch in another order has other values, and so has a single log.
   */
  abstract record(logs: readonly TimeLog[], options?: StoreOptions): Promise<Recorded>;

  /** Returns the logs that `record` stored with a key, or undefined. Throws like `record`. */
  abstract findByKey(key: RequestKey): Promise<readonly AnsweredLog[] | undefined>;

  /**
   * Runs work in a transaction of its own, and resolves with its result after the commit. An error rolls the
   * transaction back.
   */
  abstract transact<T>(
    work: (transaction: TransactionHandle) => Promise<T>,
    options?: TransactOptions,
  ): Promise<T>;

  /**
   * Returns the methods for a transaction of the caller. There is no queue: `deadlineMs` only limits
   * the wait for a key that is in use. An attempt is made even if it is 0.
   */
  abstract within(transaction: TransactionHandle): TimeLogStore;

  /**
   * Replaces all values of the log with the same id. Resolves when that is durable, with the stored log, or
   * undefined if there is none. A correction that changes nothing writes nothing. Without `expected` a log without
   * attributes keeps those that are stored. With it, the statement that changes the log compares all values, and
   * throws TimeLogChangedError if they differ, also if the log has the new values already.
   */
  abstract correct(
    log: TimeLog,
    access: TimeLogAccess,
    callerId?: string,
    expected?: TimeLog,
  ): Promise<TimeLog | undefined>;

  /**
   * Deletes the log with an id in lower case. Resolves when that is durable, with the deleted log, or undefined
   * if there is none. Throws DomainError CONFLICT if tables of a host refer to it, and TimeLogChangedError
   * like `correct`.
   */
  abstract delete(
    id: string,
    access: TimeLogAccess,
    callerId?: string,
    expected?: TimeLog,
  ): Promise<TimeLog | undefined>;

  /**
   * Returns the log with an id in lower case, or undefined. With `locks`, in a transaction of the caller, it first
   * locks the log for a change.
   */
  abstract get(id: string, access: TimeLogAccess, locks?: boolean): Promise<TimeLog | undefined>;

  /** Returns a page of matching logs, by date and then by creation, both descending. */
  abstract find(
    filter: TimeLogFilter,
    page: PageRequest,
    access: TimeLogAccess,
    callerId?: string,
  ): Promise<TimeLogPage>;

  /** Returns the same page as JSON. */
  abstract items(
    filter: TimeLogFilter,
    page: PageRequest,
    access: TimeLogAccess,
    callerId?: string,
  ): Promise<TimeLogItems>;

  /**
   * Returns up to `limit` matching logs after a place, or the first ones, in the order of `find`. A filter or an access
   * with several projects is not passed. The cost does not grow with the logs before the place.
   */
  abstract after(
    filter: TimeLogFilter,
    place: Pick<TimeLog, 'date' | 'id'> | undefined,
    limit: number,
    access: TimeLogAccess,
  ): Promise<readonly TimeLog[]>;

  /**
   * Registers a listener that is called when this process has recorded, corrected or deleted logs. It is not
   * called for other processes, so also poll the feed.
   */
  abstract onChanged(listener: () => unknown): void;
}
