import { Inject, Injectable, Optional } from '@nestjs/common';
import { type Access, ALL_PROJECTS } from '../domain/access.js';
import { TimeLogAttributes } from '../domain/attributes.js';
import type { IdempotencyKey } from '../domain/idempotency-key.js';
import { DEFAULT_PAGE, Page } from '../domain/page.js';
import type { TimeLogEvent } from '../domain/time-log-event.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import { type TimeLogFilter, type TimeLogPage, TimeLogRepository } from '../domain/time-log.repository.js';
import type { TimeLog, TimeLogValues } from '../domain/time-log.js';
import type { Grouping, Totals } from '../domain/totals.js';
import type { Transaction } from '../domain/transaction.js';
import type { Call, TimeLogCaller } from './call.js';
import { TIME_LOG_HOOKS, type TimeLogHooks } from './time-log-hooks.js';
import { TimeLogUseCases } from './time-log.use-cases.js';

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

function callOf({ access = ALL_PROJECTS, manager, caller }: RecordOptions): Call {
  return { access, caller, transaction: manager };
}

/**
 * The use cases of time logs, for the code of a host. Each does what it does in TimeLogUseCases, and throws the same.
 */
@Injectable()
export class TimeLogService {
  private readonly useCases: TimeLogUseCases;

  constructor(
    timeLogs: TimeLogRepository,
    ids: TimeLogIds,
    @Optional() @Inject(TIME_LOG_HOOKS) hooks?: TimeLogHooks,
    @Optional() attributes?: TimeLogAttributes,
  ) {
    this.useCases = new TimeLogUseCases(timeLogs, ids, hooks, attributes);
  }

  /** Records a log. Resolves when it is durably stored, or, in a transaction, when it is part of that. */
  record(values: TimeLogValues, options: RecordOptions = {}): Promise<TimeLog> {
    return this.useCases.record(values, callOf(options));
  }

  /** Records a log, unless the key has recorded one before: then it returns that one. Resolves like `record`. */
  recordOnce(
    values: TimeLogValues,
    key: IdempotencyKey,
    options: RecordOptions = {},
  ): Promise<{ readonly log: TimeLog; readonly isReplay: boolean }> {
    return this.useCases.recordOnce(values, key, callOf(options));
  }

  /** Gives the log with an id other values, all of them. Resolves like `record`, also where nothing changes. */
  correct(id: string, values: TimeLogValues, options: RecordOptions = {}): Promise<TimeLog> {
    return this.useCases.correct(id, values, callOf(options));
  }

  /** Removes the log with an id. Resolves like `record`. */
  delete(id: string, options: RecordOptions = {}): Promise<void> {
    return this.useCases.delete(id, callOf(options));
  }

  /** The log with an id, in upper or lower case. */
  get(id: string, options: CallOptions = {}): Promise<TimeLog> {
    return this.useCases.get(id, callOf(options));
  }

  /** One page of the logs that match, newest work first, and their total. */
  list(filter: TimeLogFilter, page: Page, options: CallOptions = {}): Promise<TimeLogPage> {
    return this.useCases.list(filter, page, callOf(options));
  }

  /** How many logs match, and the exact sum of their durations: of all, and of the groups of a page. */
  totals(
    filter: TimeLogFilter,
    by?: Grouping,
    page: Page = Page.of(DEFAULT_PAGE.number, DEFAULT_PAGE.limit),
    options: CallOptions = {},
  ): Promise<Totals> {
    return this.useCases.totals(filter, by, page, callOf(options));
  }

  /** The next events after the one with an id, or from the beginning, oldest first. */
  events(
    lastEventId: string | undefined,
    limit: number,
    { access = ALL_PROJECTS }: CallOptions = {},
  ): Promise<readonly TimeLogEvent[]> {
    return this.useCases.events(lastEventId, limit, access);
  }
}
