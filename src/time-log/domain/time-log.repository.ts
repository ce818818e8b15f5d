import type { IdempotencyKey } from './idempotency-key.js';
import type { Page } from './page.js';
import type { Period } from './period.js';
import type { TimeLog } from './time-log.js';

/** Which logs a list is about: all of them, or those of one project, within a period of days. */
export interface TimeLogFilter {
  readonly projectId?: string | undefined;
  readonly period: Period;
}

/** The logs of one page, and how many match the filter in all, of one and the same moment. */
export interface TimeLogPage {
  readonly logs: readonly TimeLog[];
  readonly total: number;
}

/** The port to wherever time logs are kept. All methods throw DomainError SERVICE_UNAVAILABLE where that cannot be reached. */
export abstract class TimeLogRepository {
  /** Resolves when the log is durably stored. */
  abstract add(log: TimeLog): Promise<void>;

  /**
   * Stores the log with its key, both or neither, unless the key has made a log within the last 24 hours. Resolves with
   * the id of the log that the key made. Throws DomainError IDEMPOTENCY_KEY_REUSED where that one has other values.
   */
  abstract addOnce(log: TimeLog, key: IdempotencyKey): Promise<string>;

  /** The log under an id in lower case, or undefined. Came after version 0.1: an adapter of before says what it lacks. */
  get(id: string): Promise<TimeLog | undefined> {
    throw new Error(`${this.constructor.name} must implement TimeLogRepository.get: it was asked for ${id}`);
  }

  /** Newest work first: by date, then by creation, both descending. */
  abstract find(filter: TimeLogFilter, page: Page): Promise<TimeLogPage>;
}
