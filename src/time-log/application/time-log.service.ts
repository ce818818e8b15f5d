import { Inject, Injectable, Optional } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { ALL_PROJECTS } from '../domain/project-access.js';
import { TimeLogAttributes } from '../domain/attributes.js';
import { type IdempotencyKey, requireIdempotencyKey } from '../domain/idempotency-key.js';
import type { PageRequest } from '../domain/page-request.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import {
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
} from '../domain/time-log.repository.js';
import { batchError, faultsAt } from '../domain/time-log-batch.js';
import { areChecked, type CheckedValues, TimeLog, type TimeLogValues } from '../domain/time-log.js';
import {
  accessTo,
  type CallOptions,
  type RecordOptions,
  WRAP_WRITES,
  type WrapWrites,
} from './call-options.js';

/**
 * The use cases of time logs, for HTTP, messages and the code of a host. Naming a project outside the access of
 * the call throws DomainError FORBIDDEN; a log outside it counts as missing. Changes also throw what `wrap` throws.
 */
@Injectable()
export class TimeLogService {
  constructor(
    private readonly timeLogs: TimeLogRepository,
    private readonly ids: TimeLogIds,
    @Optional() @Inject(WRAP_WRITES) private readonly wrap: WrapWrites = (writes) => writes,
    @Optional() private readonly attributes: TimeLogAttributes = new TimeLogAttributes(),
  ) {}

  /**
   * Records a log. Resolves when it is durable or, with `manager`, when it is part of the transaction. Throws
   * DomainError VALIDATION_ERROR, FORBIDDEN or SERVICE_UNAVAILABLE.
   */
  async record(values: TimeLogValues, options: RecordOptions = {}): Promise<TimeLog> {
    const log = TimeLog.record(await this.checked(values), this.ids.next());
    accessTo([log.projectId], options);
    await this.writesOf(options).add(log, options.deadline);
    return log;
  }

  /**
   * Records a log, unless the key was used before: then it returns the log as it was recorded with the key,
   * even if it has changed since. Resolves like `record`. Throws like `record`, also for an invalid key, and
   * DomainError IDEMPOTENCY_KEY_REUSED if the key was used with other values.
   */
  async recordOnce(
    values: TimeLogValues,
    key: IdempotencyKey,
    options: RecordOptions = {},
  ): Promise<{ readonly log: TimeLog; readonly isReplay: boolean }> {
    requireIdempotencyKey(key);
    const checked = await this.checked(values);
    const log = TimeLog.record(checked, this.ids.next());
    accessTo([log.projectId], options);
    const id = await this.writesOf(options).addOnce(log, key, options.deadline);
    // The key was used with the same values before, so there is no need to read the log.
    return id === log.id ? { log, isReplay: false } : { log: TimeLog.record(checked, id), isReplay: true };
  }

  /**
   * Records all logs or none, in one transaction, and returns them in order. Resolves and throws like `record`.
   * The error names the place of invalid values.
   */
  async recordAll(values: readonly TimeLogValues[], options: RecordOptions = {}): Promise<TimeLog[]> {
    const logs = await this.newLogs(values, options);
    if (logs.length > 0) await this.writesOf(options).addAll(logs, options.caller?.id, options.deadline);
    return logs;
  }

  /** Does for `recordAll` what `recordOnce` does for `record`. The key belongs to the whole batch, in this order. */
  async recordAllOnce(
    values: readonly TimeLogValues[],
    key: IdempotencyKey,
    options: RecordOptions = {},
  ): Promise<{ readonly logs: readonly TimeLog[]; readonly isReplay: boolean }> {
    requireIdempotencyKey(key);
    const logs = await this.newLogs(values, options);
    if (logs.length === 0) return { logs, isReplay: false };
    const writes = this.writesOf(options);
    const ids = await writes.addAllOnce(logs, key, options.caller?.id, options.deadline);
    const isReplay = ids[0] !== logs[0]!.id;
    return { logs: isReplay ? logs.map((log, index) => TimeLog.record(log, ids[index]!)) : logs, isReplay };
  }

  /**
   * Replaces all values of the log with an id; a missing description becomes empty. `id` and `createdAt` stay.
   * Resolves like `record`, also if nothing changes. Throws like `record`, and DomainError NOT_FOUND.
   */
  async correct(id: string, values: TimeLogValues, options: RecordOptions = {}): Promise<TimeLog> {
    const log = TimeLog.record(await this.checked(values), id.toLowerCase());
    const access = accessTo([log.projectId], options);
    await this.requireAccess(log.id, options);
    if (!(await this.writesOf(options).correct(log, access, options.caller?.id))) throw notFound();
    return log;
  }

  /**
   * Deletes the log with an id. Resolves like `record`. Throws DomainError NOT_FOUND, SERVICE_UNAVAILABLE, or
   * CONFLICT if tables of a host refer to it.
   */
  async delete(id: string, options: RecordOptions = {}): Promise<void> {
    await this.requireAccess(id, options);
    const writes = this.writesOf(options);
    const deleted = await writes.delete(id.toLowerCase(), accessTo(undefined, options), options.caller?.id);
    if (deleted === undefined) throw notFound();
  }

  /** Returns the log with an id, in upper or lower case. Throws DomainError NOT_FOUND or SERVICE_UNAVAILABLE. */
  async get(id: string, options: CallOptions = {}): Promise<TimeLog> {
    this.requireSupport(options);
    const log = await this.timeLogs.get(id.toLowerCase(), accessTo(undefined, options), options.caller?.id);
    if (log === undefined) throw notFound();
    return log;
  }

  /**
   * Returns a page of the matching logs, newest date first, and their number. Throws DomainError FORBIDDEN or
   * SERVICE_UNAVAILABLE.
   */
  async list(filter: TimeLogFilter, page: PageRequest, options: CallOptions = {}): Promise<TimeLogPage> {
    this.requireSupport(options);
    return this.timeLogs.find(filter, page, accessTo(filter.projectIds, options), options.caller?.id);
  }

  /** Returns the same page as JSON. Throws like `list`. */
  async items(filter: TimeLogFilter, page: PageRequest, options: CallOptions = {}): Promise<TimeLogItems> {
    this.requireSupport(options);
    return this.timeLogs.items(filter, page, accessTo(filter.projectIds, options), options.caller?.id);
  }

  /**
   * Returns a lower bound for the bytes of such a page, which is cheaper than reading it; undefined if the
   * store has none. Throws like `list`.
   */
  async weigh(
    filter: TimeLogFilter,
    page: PageRequest,
    options: CallOptions = {},
  ): Promise<number | undefined> {
    return this.timeLogs.weigh?.(filter, page, accessTo(filter.projectIds, options), options.caller?.id);
  }

  /** Returns the writer for the changes of a call, in its transaction if it has one. */
  private writesOf(options: RecordOptions): TimeLogWrites {
    const { timeLogs } = this;
    return this.wrap(options.manager ? timeLogs.within(options.manager) : timeLogs, options);
  }

  /** Checks values from the code of a host: those of requests and messages are checked already. */
  private async checked(values: TimeLogValues): Promise<CheckedValues> {
    return areChecked(values) ? values : this.attributes.applyTo(values);
  }

  /** Returns a new log for each of the values. Checks all before it rejects, and then the access. */
  private async newLogs(values: readonly TimeLogValues[], options: RecordOptions): Promise<TimeLog[]> {
    if (!Array.isArray(values)) throw new DomainError('VALIDATION_ERROR', 'the time logs must be an array');
    const [faults, logged]: [string[], string[]] = [[], []];
    const checked: CheckedValues[] = [];
    for (const [index, some] of (values as readonly TimeLogValues[]).entries()) {
      const result = areChecked(some) ? some : await this.attributes.examine(some);
      if ('faults' in result) {
        faults.push(...faultsAt(index, result.faults));
        logged.push(...faultsAt(index, result.logged));
      } else checked.push(result);
    }
    if (faults.length > 0) throw batchError(faults, logged);
    const logs = checked.map((some) => TimeLog.record(some, this.ids.next()));
    for (const { projectId } of logs) accessTo(projectId, options);
    return logs;
  }

  /**
   * Rejects a log outside the access before the change enters the queue: there it would delay other callers,
   * and its own delay would reveal them. The statement that changes the log checks again. A transaction of the
   * caller has no queue, and the log may be visible only there.
   */
  private async requireAccess(id: string, options: RecordOptions): Promise<void> {
    this.requireSupport(options);
    if ((options.access ?? ALL_PROJECTS) !== ALL_PROJECTS && !options.manager) await this.get(id, options);
  }

  /** Throws an Error if the call is bound to projects and a method of the repository has no parameter for that. */
  private requireSupport(options: CallOptions): void {
    if ((options.access ?? ALL_PROJECTS) === ALL_PROJECTS) return;
    for (const [method, count] of ACCESS_PARAMETERS) {
      const length = this.timeLogs[method].length;
      // A method with rest parameters has a length of 0.
      if (length > 0 && length < count)
        throw new Error(
          `${this.timeLogs.constructor.name}.${method} must take the access of callers, and obey it`,
        );
    }
  }
}

/** The number of parameters that include the access, for the methods that must obey it. */
const ACCESS_PARAMETERS = [
  ['find', 3],
  ['get', 2],
  ['correct', 2],
  ['delete', 2],
] as const;

function notFound(): DomainError {
  return new DomainError('NOT_FOUND', 'there is no time log with this id');
}
