import { Inject, Injectable, Optional } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { type Access, ALL_PROJECTS, FEED_REFUSED, requireProject } from '../domain/access.js';
import { TimeLogAttributes } from '../domain/attributes.js';
import { type IdempotencyKey, requireKey } from '../domain/idempotency-key.js';
import type { Page } from '../domain/page.js';
import { type FeedPlace, placeOf, type TimeLogEvent } from '../domain/time-log-event.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import { type TimeLogFilter, type TimeLogPage, TimeLogRepository } from '../domain/time-log.repository.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import { normalizedValues, TimeLog, type TimeLogValues } from '../domain/time-log.js';
import type { Grouping, Totals } from '../domain/totals.js';
import type { Call } from './call.js';
import { HookedWrites } from './hooked-writes.js';
import { TIME_LOG_HOOKS, type TimeLogChange, type TimeLogHooks } from './time-log-hooks.js';

/**
 * The use cases of time logs, each for a caller with an access. A project beyond it is DomainError FORBIDDEN where the
 * caller names it; a log beyond it is not there. What changes a log also throws what a hook of the host throws.
 */
@Injectable()
export class TimeLogUseCases {
  private readonly writes: HookedWrites;

  constructor(
    private readonly timeLogs: TimeLogRepository,
    private readonly ids: TimeLogIds,
    @Optional() @Inject(TIME_LOG_HOOKS) hooks: TimeLogHooks = {},
    @Optional() private readonly attributes: TimeLogAttributes = new TimeLogAttributes(),
  ) {
    this.writes = new HookedWrites(timeLogs, hooks);
  }

  /**
   * Records a log. Resolves when it is durably stored, or, in a transaction, when it is part of that. Throws
   * DomainError VALIDATION_ERROR, FORBIDDEN or SERVICE_UNAVAILABLE.
   */
  async record(values: TimeLogValues, call: Call): Promise<TimeLog> {
    const log = TimeLog.record(await this.attributes.applyTo(values), this.ids.next());
    requireProject(call.access, log.projectId);
    const change = recording(log, call);
    await this.writes.before(call, change);
    await this.writes.run(call, { change, write: (writes) => writes.add(log), written: () => log });
    return log;
  }

  /**
   * Records a log, unless the key has recorded one before: then it returns that one as it was recorded, whatever became
   * of it. Resolves like `record`. Throws like `record`, also where the key is none, and DomainError
   * IDEMPOTENCY_KEY_REUSED where the key has recorded other values.
   */
  async recordOnce(
    values: TimeLogValues,
    key: IdempotencyKey,
    call: Call,
  ): Promise<{ readonly log: TimeLog; readonly isReplay: boolean }> {
    requireKey(key);
    const applied = await this.attributes.applyTo(values);
    const log = TimeLog.record(applied, this.ids.next());
    requireProject(call.access, log.projectId);
    const change = recording(log, call);
    const isKnown = async () => (await this.writes.writesOf(call).known(log, key)) !== undefined;
    await this.writes.before(call, change, isKnown);
    const id = await this.writes.run(call, {
      change,
      write: (writes) => writes.addOnce(log, key),
      written: (id) => (id === log.id ? log : undefined),
      turn: JSON.stringify([key.principal, key.text]),
    });
    // The key was given with these values the first time too, so the first answer is made without a look at the log.
    return id === log.id ? { log, isReplay: false } : { log: TimeLog.record(applied, id), isReplay: true };
  }

  /**
   * Gives the log with an id other values, all of them: a description that is left out becomes empty. Id and creation
   * stay. Resolves like `record`, also where nothing changes. Throws like `record`, and DomainError NOT_FOUND.
   */
  async correct(id: string, values: TimeLogValues, call: Call): Promise<TimeLog> {
    const log = TimeLog.record(await this.attributes.applyTo(values), id.toLowerCase());
    const { access, caller } = call;
    requireProject(access, log.projectId);
    await this.requireReach(log.id, call);
    const change: TimeLogChange = { kind: 'correct', id: log.id, values: normalizedValues(log), caller };
    await this.writes.before(call, change);
    const isThere = await this.writes.run(call, {
      change,
      write: (writes) => writes.correct(log, access, caller?.id),
      written: (wasThere) => (wasThere ? log : undefined),
      turn: log.id,
    });
    if (!isThere) throw noSuchLog();
    return log;
  }

  /**
   * Removes the log with an id. Resolves like `record`. Throws DomainError NOT_FOUND, SERVICE_UNAVAILABLE, or CONFLICT
   * where tables of a host refer to it.
   */
  async delete(id: string, call: Call): Promise<void> {
    const { access, caller } = call;
    const change = { kind: 'delete', id: id.toLowerCase(), caller } as const;
    await this.requireReach(change.id, call);
    await this.writes.before(call, change);
    const deleted = await this.writes.run(call, {
      change,
      write: (writes) => writes.delete(change.id, access, caller?.id),
      written: (log) => log,
      turn: change.id,
    });
    if (deleted === undefined) throw noSuchLog();
  }

  /** The log with an id, in upper or lower case. Throws DomainError NOT_FOUND or SERVICE_UNAVAILABLE. */
  async get(id: string, { access, caller }: Call): Promise<TimeLog> {
    this.requireObedience(access);
    const log = await this.timeLogs.get(id.toLowerCase(), access, caller?.id);
    if (log === undefined) throw noSuchLog();
    return log;
  }

  /**
   * One page of the logs that match, newest work first, and their total. Throws DomainError FORBIDDEN or
   * SERVICE_UNAVAILABLE.
   */
  async list(filter: TimeLogFilter, page: Page, { access, caller }: Call): Promise<TimeLogPage> {
    this.requireFilter(filter, access);
    return this.timeLogs.find(filter, page, access, caller?.id);
  }

  /** The same page as the JSON of its items. Throws like `list`. */
  async items(filter: TimeLogFilter, page: Page, { access, caller }: Call): Promise<TimeLogItems> {
    this.requireFilter(filter, access);
    return this.timeLogs.items(filter, page, access, caller?.id);
  }

  /**
   * How many logs match, and the exact sum of their durations: of all, and of the groups of a page, where a grouping is
   * given. Throws like `list`.
   */
  async totals(
    filter: TimeLogFilter,
    by: Grouping | undefined,
    page: Page,
    { access, caller }: Call,
  ): Promise<Totals> {
    this.requireFilter(filter, access);
    return this.timeLogs.totals(filter, by, page, access, caller?.id);
  }

  /**
   * At least how many bytes such a page has, for less than it costs to read it; undefined where the store does not
   * tell. Throws like `list`.
   */
  async weigh(filter: TimeLogFilter, page: Page, { access, caller }: Call): Promise<number | undefined> {
    this.requireFilter(filter, access);
    return this.timeLogs.weigh?.(filter, page, access, caller?.id);
  }

  /** The same of the next events. Throws like `events`. */
  async weighEvents(
    lastEventId: string | undefined,
    limit: number,
    access: Access,
  ): Promise<number | undefined> {
    return this.timeLogs.weighEvents?.(feedPlaceOf(lastEventId, access), limit);
  }

  /**
   * The next events after the one with an id, or from the beginning, oldest first. Throws DomainError VALIDATION_ERROR
   * where that is the id of no event, FORBIDDEN for callers who are bound to projects, or SERVICE_UNAVAILABLE.
   */
  async events(
    lastEventId: string | undefined,
    limit: number,
    access: Access,
  ): Promise<readonly TimeLogEvent[]> {
    return this.timeLogs.eventsAfter(feedPlaceOf(lastEventId, access), limit);
  }

  /**
   * Refuses a log beyond the access before the change enters the queue, where it would delay changes by other callers
   * and reveal them by its own delay. The statement that changes the log decides again. In a transaction of the caller
   * there is no queue, and the log may be visible only there.
   */
  private async requireReach(id: string, call: Call): Promise<void> {
    if (call.access === ALL_PROJECTS || call.transaction) this.requireObedience(call.access);
    else await this.get(id, call);
  }

  private requireFilter({ projectId }: TimeLogFilter, access: Access): void {
    if (projectId !== undefined) requireProject(access, projectId);
    this.requireObedience(access);
  }

  /** An adapter that ignores the access would show everybody everything. */
  private requireObedience(access: Access): void {
    if (access === ALL_PROJECTS || this.timeLogs.obeysAccess) return;
    throw new Error(
      `${this.timeLogs.constructor.name} must obey the access of callers, and say so by TimeLogRepository.obeysAccess`,
    );
  }
}

function recording(log: TimeLog, { caller }: Call): TimeLogChange {
  return { kind: 'record', values: normalizedValues(log), caller };
}

function noSuchLog(): DomainError {
  return new DomainError('NOT_FOUND', 'there is no time log with this id');
}

/** The place after an event. The feed tells the logs of all projects, so nobody else may have it. */
function feedPlaceOf(lastEventId: string | undefined, access: Access): FeedPlace | undefined {
  const place = lastEventId === undefined ? undefined : placeOf(lastEventId);
  if (access === ALL_PROJECTS) return place;
  throw new DomainError('FORBIDDEN', FEED_REFUSED);
}
