import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { IdempotencyKey } from '../domain/idempotency-key.js';
import { DEFAULT_PAGE, Page } from '../domain/page.js';
import { type FeedPlace, placeOf, type TimeLogEvent } from '../domain/time-log-event.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import {
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from '../domain/time-log.repository.js';
import { TimeLog, type TimeLogValues } from '../domain/time-log.js';
import type { Grouping, Totals } from '../domain/totals.js';
import type { Transaction } from '../domain/transaction.js';

/** How a log is recorded, corrected or deleted. */
export interface RecordOptions {
  /**
   * A transaction of the caller: the change is committed or rolled back with it, and shares no commit with others. Its
   * isolation level is READ COMMITTED, or it may fail where others change logs at the same time.
   */
  readonly manager?: Transaction | undefined;
}

/** The use cases of time logs. */
@Injectable()
export class TimeLogService {
  constructor(
    private readonly timeLogs: TimeLogRepository,
    private readonly ids: TimeLogIds,
  ) {}

  /**
   * Records a log. Resolves when it is durably stored, or, in a transaction, when it is part of that. Throws
   * DomainError VALIDATION_ERROR or SERVICE_UNAVAILABLE.
   */
  async record(values: TimeLogValues, { manager }: RecordOptions = {}): Promise<TimeLog> {
    const log = TimeLog.record(values, this.ids.next());
    await this.storeOf(manager).add(log);
    return log;
  }

  /**
   * Records a log, unless the key has recorded one before: then it returns that one as it was recorded, whatever became
   * of it. Resolves like `record`. Throws like `record`, and DomainError IDEMPOTENCY_KEY_REUSED where the key has recorded
   * other values.
   */
  async recordOnce(
    values: TimeLogValues,
    key: IdempotencyKey,
    { manager }: RecordOptions = {},
  ): Promise<{ readonly log: TimeLog; readonly isReplay: boolean }> {
    const log = TimeLog.record(values, this.ids.next());
    const id = await this.storeOf(manager).addOnce(log, key);
    // The key was given with these values the first time too, so the first answer is made without a look at the log.
    return id === log.id ? { log, isReplay: false } : { log: TimeLog.record(values, id), isReplay: true };
  }

  /**
   * Gives the log with an id other values, all of them: a description that is left out becomes empty. Id and creation
   * stay. Resolves like `record`, also where nothing changes. Throws like `record`, and DomainError NOT_FOUND.
   */
  async correct(id: string, values: TimeLogValues, { manager }: RecordOptions = {}): Promise<TimeLog> {
    const log = TimeLog.record(values, id.toLowerCase());
    if (!(await this.storeOf(manager).correct(log))) throw noSuchLog();
    return log;
  }

  /**
   * Removes the log with an id. Resolves like `record`. Throws DomainError NOT_FOUND, SERVICE_UNAVAILABLE, or CONFLICT
   * where tables of a host refer to it.
   */
  async delete(id: string, { manager }: RecordOptions = {}): Promise<void> {
    if (!(await this.storeOf(manager).delete(id.toLowerCase()))) throw noSuchLog();
  }

  /** The log with an id, in upper or lower case. Throws DomainError NOT_FOUND or SERVICE_UNAVAILABLE. */
  async get(id: string): Promise<TimeLog> {
    const log = await this.timeLogs.get(id.toLowerCase());
    if (log === undefined) throw noSuchLog();
    return log;
  }

  /** One page of the logs that match, newest work first, and their total. Throws DomainError SERVICE_UNAVAILABLE. */
  list(filter: TimeLogFilter, page: Page): Promise<TimeLogPage> {
    return this.timeLogs.find(filter, page);
  }

  /**
   * How many logs match, and the exact sum of their durations: of all, and of the groups of a page, where a grouping is
   * given. Throws like `list`.
   */
  async totals(
    filter: TimeLogFilter,
    by?: Grouping,
    page: Page = Page.of(DEFAULT_PAGE.number, DEFAULT_PAGE.limit),
  ): Promise<Totals> {
    return this.timeLogs.totals(filter, by, page);
  }

  /**
   * At least how many bytes such a page has, for less than it costs to read it; undefined where the store does not
   * tell. Throws like `list`.
   */
  async weigh(filter: TimeLogFilter, page: Page): Promise<number | undefined> {
    return this.timeLogs.weigh?.(filter, page);
  }

  /** The same of the next events. Throws like `events`. */
  async weighEvents(lastEventId: string | undefined, limit: number): Promise<number | undefined> {
    return this.timeLogs.weighEvents?.(afterOf(lastEventId), limit);
  }

  /**
   * The next events after the one with an id, or from the beginning, oldest first. Throws DomainError VALIDATION_ERROR
   * where that is the id of no event, or SERVICE_UNAVAILABLE.
   */
  async events(lastEventId: string | undefined, limit: number): Promise<readonly TimeLogEvent[]> {
    return this.timeLogs.eventsAfter(afterOf(lastEventId), limit);
  }

  private storeOf(transaction: Transaction | undefined): TimeLogWrites {
    return transaction === undefined ? this.timeLogs : this.timeLogs.within(transaction);
  }
}

function noSuchLog(): DomainError {
  return new DomainError('NOT_FOUND', 'there is no time log with this id');
}

function afterOf(lastEventId: string | undefined): FeedPlace | undefined {
  return lastEventId === undefined ? undefined : placeOf(lastEventId);
}
