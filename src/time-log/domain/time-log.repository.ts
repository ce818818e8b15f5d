import type { ErrorKind } from '../../../libs/errors/src/domain-error.js';
import type { ProjectAccess } from './project-access.js';
import type { IdempotencyKey } from './idempotency-key.js';
import type { PageRequest } from './page-request.js';
import type { Period } from './period.js';
import type { FeedPlace, TimeLogEvent } from './time-log-event.js';
import { itemsOf, type TimeLogItems } from './time-log-item.js';
import type { TimeLog } from './time-log.js';
import type { Grouping, Totals } from './totals.js';
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

/** What comes after a place in the feed, also what is not yet in it. */
export interface Backlog {
  readonly events: number;
  /** When the first of them happened. */
  readonly oldest: Date | undefined;
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
 * The port to the place that stores time logs. All methods throw DomainError SERVICE_UNAVAILABLE where it is away. An
 * access says whose logs there are for the caller: what is beyond it is answered like what is not there. `caller` is
 * the id of the client; an adapter uses it to serve callers in rotation. Methods that change logs throw DomainError
 * CONFLICT if a constraint of a host refuses the change.
 */
export abstract class TimeLogRepository {
  /** Whether an adapter obeys the access. One that does not say so is never asked for a caller bound to projects. */
  readonly obeysAccess: boolean = false;
  private readonly listeners: (() => unknown)[] = [];

  /** Resolves when the log is durably stored. */
  abstract add(log: TimeLog): Promise<void>;

  /**
   * Stores the log together with its key, unless the key has made a log within the last 24 hours. Resolves with the id
   * of the log that the key made. Throws DomainError IDEMPOTENCY_KEY_REUSED where that log has other values.
   */
  abstract addOnce(log: TimeLog, key: IdempotencyKey): Promise<string>;

  /**
   * The id of the log that the key has made, as `addOnce` tells it; undefined: none yet. It stores nothing. Throws like
   * `addOnce`. Not abstract, like `get`.
   */
  known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    throw lacking(this, 'known', `it was asked about ${log.id} with ${key.text}`);
  }

  /**
   * Runs work in a transaction of its own, and resolves with its outcome when that is durable. What the work throws
   * rolls it back. Works with one turn come one after the other. Not abstract, like `get`.
   */
  transact<T>(
    work: (transaction: TransactionHandle) => Promise<T>,
    turn?: string,
    caller?: string,
  ): Promise<T> {
    throw lacking(this, 'transact', `it was given ${typeof work} ${turn} of ${caller}`);
  }

  /**
   * Changes logs in a transaction of the caller: durably when that is committed, not at all where it is rolled back.
   * Not abstract, like `get`.
   */
  within(transaction: TransactionHandle): TimeLogWrites {
    throw lacking(this, 'within', `it was given an ${typeof transaction}`);
  }

  /**
   * Gives the log with this id the values of this one, all of them. Resolves when that is durable, with whether there
   * is such a log; it never makes one. What changes nothing writes nothing. Not abstract, like `get`.
   */
  correct(log: TimeLog, access: ProjectAccess, caller?: string): Promise<boolean> {
    throw lacking(this, 'correct', `it was given ${log.id} within ${String(access)} of ${caller}`);
  }

  /**
   * Removes the log with an id in lower case. Resolves when that is durable, with the log as it was; undefined: there
   * is none. Throws DomainError CONFLICT if tables of a host refer to it. Not abstract, like `get`.
   */
  delete(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined> {
    throw lacking(this, 'delete', `it was given ${id} within ${String(access)} of ${caller}`);
  }

  /** The log with an id in lower case, or undefined. Not abstract: adapters from the time of version 0.1 lack it. */
  get(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined> {
    throw lacking(this, 'get', `it was asked for ${id} within ${String(access)} by ${caller}`);
  }

  /** Newest work first: by date, then by creation, both descending. */
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
   * How many logs match, and the exact sum of their durations: of all, and of the groups of a page. Projects come in
   * the order of their sums, the largest first, then by id; periods newest first. Not abstract, like `get`.
   */
  totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: ProjectAccess,
    caller?: string,
  ): Promise<Totals> {
    const asked = `page ${page.number} by ${grouping ?? 'nothing'} of ${filter.projectId ?? String(access)} for ${caller}`;
    throw lacking(this, 'totals', `asked for ${asked}`);
  }

  /**
   * How many bytes the texts of a page have, found for less than it costs to read them. An adapter may leave it out:
   * then a page is read even where there is no room for it.
   */
  weigh?(filter: TimeLogFilter, page: PageRequest, access: ProjectAccess, caller?: string): Promise<number>;

  /** The same of the next events after a place. */
  weighEvents?(place: FeedPlace | undefined, limit: number): Promise<number>;

  /**
   * The next events after a place, or from the beginning, oldest first, at most so many. Whoever goes on from the last
   * one gets every log once, whoever commits when. Not abstract: adapters from the time of version 0.1 lack it.
   */
  eventsAfter(place: FeedPlace | undefined, limit: number): Promise<readonly TimeLogEvent[]> {
    throw lacking(this, 'eventsAfter', `asked for ${limit} events after ${place?.position ?? 'none'}`);
  }

  /**
   * How many events come after a place in the feed; it counts no more than `most`. Not abstract, like `eventsAfter`.
   */
  backlog(place: FeedPlace, most: number): Promise<Backlog> {
    throw lacking(this, 'backlog', `asked for ${most} after ${place.position}`);
  }

  /**
   * Has a listener called when this process has recorded, corrected or deleted logs. Others are not noticed: ask for
   * events now and then.
   */
  onRecorded(listener: () => unknown): void {
    this.listeners.push(listener);
  }

  /** For adapters: a change of logs was committed. */
  protected recorded(): void {
    for (const listener of this.listeners) listener();
  }
}

/** What a method throws that is not abstract, where an adapter lacks it. */
function lacking(
  { constructor: { name } }: TimeLogRepository,
  method: keyof TimeLogRepository,
  what: string,
): Error {
  return new Error(`${name} must implement TimeLogRepository.${method}: ${what}`);
}
