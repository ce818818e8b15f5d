import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { IdempotencyKey } from '../domain/idempotency-key.js';
import type { Page } from '../domain/page.js';
import { placeOf, type TimeLogEvent } from '../domain/time-log-event.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import { type TimeLogFilter, type TimeLogPage, TimeLogRepository } from '../domain/time-log.repository.js';
import { TimeLog, type TimeLogValues } from '../domain/time-log.js';

/** The use cases of time logs. */
@Injectable()
export class TimeLogService {
  constructor(
    private readonly timeLogs: TimeLogRepository,
    private readonly ids: TimeLogIds,
  ) {}

  /** Records a log. Resolves when it is durably stored. Throws DomainError VALIDATION_ERROR or SERVICE_UNAVAILABLE. */
  async record(values: TimeLogValues): Promise<TimeLog> {
    const log = TimeLog.record(values, this.ids.next());
    await this.timeLogs.add(log);
    return log;
  }

  /**
   * Records a log, unless the key has recorded one before: then it returns that one. Resolves when the log is durably
   * stored. Throws like `record`, and DomainError IDEMPOTENCY_KEY_REUSED where the key has recorded other values.
   */
  async recordOnce(
    values: TimeLogValues,
    key: IdempotencyKey,
  ): Promise<{ readonly log: TimeLog; readonly isReplay: boolean }> {
    const log = TimeLog.record(values, this.ids.next());
    const id = await this.timeLogs.addOnce(log, key);
    return id === log.id ? { log, isReplay: false } : { log: TimeLog.record(values, id), isReplay: true };
  }

  /** The log with an id, in upper or lower case. Throws DomainError NOT_FOUND or SERVICE_UNAVAILABLE. */
  async get(id: string): Promise<TimeLog> {
    const log = await this.timeLogs.get(id.toLowerCase());
    if (log === undefined) throw new DomainError('NOT_FOUND', 'there is no time log with this id');
    return log;
  }

  /** One page of the logs that match, newest work first, and their total. Throws DomainError SERVICE_UNAVAILABLE. */
  list(filter: TimeLogFilter, page: Page): Promise<TimeLogPage> {
    return this.timeLogs.find(filter, page);
  }

  /**
   * The next events after the one with an id, or from the beginning, oldest first. Throws an Error where that is the id
   * of no event, and DomainError SERVICE_UNAVAILABLE.
   */
  async events(lastEventId: string | undefined, limit: number): Promise<readonly TimeLogEvent[]> {
    return this.timeLogs.eventsAfter(lastEventId === undefined ? undefined : placeOf(lastEventId), limit);
  }
}
