import type { limitsOf } from './time-log.limits.js';

/** The options of time logs. */
export interface TimeLogOptions {
  /** The limits that differ from `TIME_LOG_LIMITS`. */
  readonly limits?: Parameters<typeof limitsOf>[0];
  /**
   * The `source` of events, in the feed and from a relay: a URI-reference (CloudEvents 1.0, section 3.1). The
   * default is `/api/v1/time-logs`. It identifies events together with their ids, so never change it.
   */
  readonly source?: string | undefined;
}

/** The default of `source`, whatever the path of the module. */
export const DEFAULT_EVENT_SOURCE = '/api/v1/time-logs';

/** The injection token of TimeLogOptions. */
export const TIME_LOG_OPTIONS = Symbol.for('time-logs.TIME_LOG_OPTIONS');

/** The scope for reading time logs. */
export const READ = 'time-logs:read';
/** The scope for recording time logs. */
export const WRITE = 'time-logs:write';
/** The scope for correcting and deleting time logs. */
export const CORRECT = 'time-logs:correct';
