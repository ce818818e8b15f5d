import { Inject, Injectable, Optional } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { ALL_PROJECTS, requireProject } from '../domain/project-access.js';
import { TimeLogAttributes } from '../domain/attributes.js';
import { type IdempotencyKey, requireKey } from '../domain/idempotency-key.js';
import type { PageRequest } from '../domain/page-request.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import {
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from '../domain/time-log.repository.js';
import { TimeLog, type TimeLogValues } from '../domain/time-log.js';
import { accessOf, accessTo, type CallOptions, type RecordOptions } from './call.js';
import { HookedWrites } from './hooked-writes.js';
import { TIME_LOG_HOOKS, type TimeLogHooks } from './time-log-hooks.js';

/**
 * The use cases of time logs, for HTTP, messages and the code of a host. A project beyond the access of a call is
 * DomainError FORBIDDEN if the caller names it; a log beyond it counts as missing. A change also throws what a hook
 * throws.
 */
@Injectable()
export class TimeLogService {
  constructor(
    private readonly timeLogs: TimeLogRepository,
    private readonly ids: TimeLogIds,
    @Optional() @Inject(TIME_LOG_HOOKS) private readonly hooks?: TimeLogHooks,
    @Optional() private readonly attributes: TimeLogAttributes = new TimeLogAttributes(),
  ) {}

  /**
   * Records a log. Resolves when it is durably stored, or, in a transaction, when it is part of that. Throws
   * DomainError VALIDATION_ERROR, FORBIDDEN or SERVICE_UNAVAILABLE.
   */
  async record(values: TimeLogValues, options: RecordOptions = {}): Promise<TimeLog> {
    const log = TimeLog.record(await this.attributes.applyTo(values), this.ids.next());
    requireProject(accessOf(options), log.projectId);
    await this.writesOf(options).add(log);
    return log;
  }

  /**
   * Records a log, unless the key has recorded one before: then it returns that one as it was recorded, even if it has
   * changed since. Resolves like `record`. Throws like `record`, also for an invalid key, and DomainError
   * IDEMPOTENCY_KEY_REUSED if the key has recorded other values.
   */
  async recordOnce(
    values: TimeLogValues,
    key: IdempotencyKey,
    options: RecordOptions = {},
  ): Promise<{ readonly log: TimeLog; readonly isReplay: boolean }> {
    requireKey(key);
    const applied = await this.attributes.applyTo(values);
    const log = TimeLog.record(applied, this.ids.next());
    requireProject(accessOf(options), log.projectId);
    const id = await this.writesOf(options).addOnce(log, key);
    // The key was given with these values the first time too, so the first answer is made without a look at the log.
    return id === log.id ? { log, isReplay: false } : { log: TimeLog.record(applied, id), isReplay: true };
  }

  /**
   * Gives the log with an id other values, all of them: a description that is left out becomes empty. Id and creation
   * stay. Resolves like `record`, also if nothing changes. Throws like `record`, and DomainError NOT_FOUND.
   */
  async correct(id: string, values: TimeLogValues, options: RecordOptions = {}): Promise<TimeLog> {
    const log = TimeLog.record(await this.attributes.applyTo(values), id.toLowerCase());
    const access = accessOf(options);
    requireProject(access, log.projectId);
    await this.requireReach(log.id, options);
    if (!(await this.writesOf(options).correct(log, access, options.caller?.id))) throw noSuchLog();
    return log;
  }

  /**
   * Removes the log with an id. Resolves like `record`. Throws DomainError NOT_FOUND, SERVICE_UNAVAILABLE, or CONFLICT
   * if tables of a host refer to it.
   */
  async delete(id: string, options: RecordOptions = {}): Promise<void> {
    await this.requireReach(id, options);
    const writes = this.writesOf(options);
    const deleted = await writes.delete(id.toLowerCase(), accessOf(options), options.caller?.id);
    if (deleted === undefined) throw noSuchLog();
  }

  /** Returns the log with an id, in upper or lower case. Throws DomainError NOT_FOUND or SERVICE_UNAVAILABLE. */
  async get(id: string, options: CallOptions = {}): Promise<TimeLog> {
    const log = await this.timeLogs.get(id.toLowerCase(), accessOf(options), options.caller?.id);
    if (log === undefined) throw noSuchLog();
    return log;
  }

  /**
   * Returns one page of the logs that match, newest work first, and their total. Throws DomainError FORBIDDEN or
   * SERVICE_UNAVAILABLE.
   */
  async list(filter: TimeLogFilter, page: PageRequest, options: CallOptions = {}): Promise<TimeLogPage> {
    return this.timeLogs.find(filter, page, accessTo(filter, options), options.caller?.id);
  }

  /** Returns the same page as the JSON of its items. Throws like `list`. */
  async items(filter: TimeLogFilter, page: PageRequest, options: CallOptions = {}): Promise<TimeLogItems> {
    return this.timeLogs.items(filter, page, accessTo(filter, options), options.caller?.id);
  }

  /**
   * Returns at least how many bytes such a page has, for less than it costs to read it; undefined if the store does
   * not know. Throws like `list`.
   */
  async weigh(
    filter: TimeLogFilter,
    page: PageRequest,
    options: CallOptions = {},
  ): Promise<number | undefined> {
    return this.timeLogs.weigh?.(filter, page, accessTo(filter, options), options.caller?.id);
  }

  /** Returns what stores the changes of a call, in its transaction if it has one. */
  private writesOf(options: RecordOptions): TimeLogWrites {
    const { timeLogs, hooks } = this;
    const writes = options.manager === undefined ? timeLogs : timeLogs.within(options.manager);
    return hooks ? new HookedWrites(writes, timeLogs, hooks, options) : writes;
  }

  /**
   * Refuses a log beyond the access before the change enters the queue, where it would delay changes by other callers
   * and reveal them by its own delay. The statement that changes the log decides again. In a transaction of the caller
   * there is no queue, and the log may be visible only there.
   */
  private async requireReach(id: string, options: RecordOptions): Promise<void> {
    if (accessOf(options) !== ALL_PROJECTS && !options.manager) await this.get(id, options);
  }
}

function noSuchLog(): DomainError {
  return new DomainError('NOT_FOUND', 'there is no time log with this id');
}
