import type { ErrorKind } from '../../../libs/errors/src/domain-error.js';
import type { ProjectAccess } from './project-access.js';
import type { IdempotencyKey } from './idempotency-key.js';
import type { PageRequest } from './page-request.js';
import type { Period } from './period.js';
import { itemsOf, type TimeLogItems } from './time-log-item.js';
import type { TimeLog } from './time-log.js';
import type { TransactionHandle } from './transaction-handle.js';

/** Which logs to list: all, or those of one project, within a period of days. */
export interface TimeLogFilter {
  readonly projectId?: string | undefined;
  readonly period: Period;
}

/** The logs of one page, and how many logs match the filter, both at the same moment. */
export interface TimeLogPage {
  readonly logs: readonly TimeLog[];
  readonly total: number;
}

/** Tables of a host refer to a log that was to be deleted. */
export const REFERRED_TO: ErrorKind = {
  code: 'CONFLICT',
  status: 409,
  message: 'other records refer to this time log',
};

/** A constraint that a host has added to the tables refuses a log. */
export const REFUSED: ErrorKind = {
  code: 'CONFLICT',
  status: 409,
  message: 'the database refuses this time log: it violates a constraint',
};

/** What changes logs. */
export type TimeLogWrites = Pick<TimeLogRepository, 'add' | 'addOnce' | 'known' | 'correct' | 'delete'>;

/**
 * The port to the store of time logs. All methods throw DomainError SERVICE_UNAVAILABLE if it is unavailable. An adapter
 * must obey the access: what is beyond it is answered as if it did not exist. `caller` is the id of the client; an
 * adapter uses it to serve callers in rotation. Methods that change logs throw DomainError CONFLICT if a constraint of a
 * host refuses the change.
 */
export abstract class TimeLogRepository {
  private readonly listeners: (() => unknown)[] = [];

  /** Resolves when the log is durably stored. */
  abstract add(log: TimeLog): Promise<void>;

  /**
   * Stores the log together with its key, unless the key has made a log within the last 24 hours. Resolves with the id
   * of the log that the key made. Throws DomainError IDEMPOTENCY_KEY_REUSED if that log has other values.
   */
  abstract addOnce(log: TimeLog, key: IdempotencyKey): Promise<string>;

  /**
   * Returns the id of the log that the key has made, like `addOnce`; undefined if it has made none. It stores nothing.
   * Throws like `addOnce`.
   */
  abstract known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined>;

  /**
   * Runs work in a transaction of its own, and resolves with its outcome when that is durable. What the work throws
   * rolls it back. Works with one turn come one after the other.
   */
  abstract transact<T>(
    work: (transaction: TransactionHandle) => Promise<T>,
    turn?: string,
    caller?: string,
  ): Promise<T>;

  /**
   * Changes logs in a transaction of the caller: durably when that is committed, not at all if it is rolled back.
   */
  abstract within(transaction: TransactionHandle): TimeLogWrites;

  /**
   * Replaces all values of the log with this id by those of this one. Resolves when that is durable, with whether there
   * is such a log; it never makes one. A correction that changes nothing writes nothing.
   */
  abstract correct(log: TimeLog, access: ProjectAccess, caller?: string): Promise<boolean>;

  /**
   * Removes the log with an id in lower case. Resolves when that is durable, with the log before its deletion, or
   * undefined if there is none. Throws DomainError CONFLICT if tables of a host refer to it.
   */
  abstract delete(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined>;

  /** Returns the log with an id in lower case, or undefined. */
  abstract get(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined>;

  /** Returns a page of the logs that match, newest work first: by date, then by creation, both descending. */
  abstract find(
    filter: TimeLogFilter,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<TimeLogPage>;

  /** Finds the same page, as the JSON of its items. An adapter overrides it if it needs no logs for that. */
  async items(
    filter: TimeLogFilter,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<TimeLogItems> {
    const { logs, total } = await this.find(filter, page, access, caller);
    return { items: itemsOf(logs), total };
  }

  /**
   * Returns how many bytes the texts of a page have, for less than it costs to read them. An adapter may leave it out:
   * then a page is read even if there is no room for it.
   */
  weigh?(filter: TimeLogFilter, page: PageRequest, access: ProjectAccess, caller?: string): Promise<number>;

  /**
   * Registers a listener that is called when this process has recorded, corrected or deleted logs. Changes by other
   * processes are not noticed: ask for events now and then.
   */
  onRecorded(listener: () => unknown): void {
    this.listeners.push(listener);
  }

  /** For adapters: a change of logs was committed. */
  protected recorded(): void {
    for (const listener of this.listeners) listener();
  }
}
