import {
  DomainError,
  type ErrorKind,
  type Fault,
  faultOf,
  validationError,
} from '../../../libs/errors/src/domain-error.js';
import { createdAtOf, TimeLog } from '../../time-log/domain/time-log.js';
import { UUID_PATTERN } from '../../../libs/auth/src/project-ids.js';

/** The id of an event: a position up to 2^63-1 and the id of a log. */
const EVENT_ID = new RegExp(`^(0|[1-9][0-9]{0,18})-${UUID_PATTERN}$`);
const MAX_POSITION = 2n ** 63n - 1n;
/** A cursor in the feed of some projects that is not right after one of its events. */
const OPAQUE_CURSOR = /^[A-Za-z0-9_-]{64}$/;

/** The error for a cursor after which records of deletions were removed. */
export const FEED_GONE: ErrorKind = {
  code: 'GONE',
  status: 410,
  message: 'the feed no longer reaches back to this event: start again with an empty copy',
};

/** A cursor in the feed: right after the event of this log, even if the log no longer exists. */
export interface FeedCursor {
  /** A decimal number. */
  readonly position: string;
  readonly logId: string;
}

/** The known values of a deleted log. */
export type DeletedTimeLog = Pick<TimeLog, 'id' | 'projectId'>;

/** The record, correction or deletion of a log. Events are ordered by position and log id; this never changes. */
export class TimeLogEvent {
  constructor(
    /** A decimal number, up to 2^63-1. */
    readonly position: string,
    /** The current log; for a deleted one its id and last project, for one that has left a project that project. */
    readonly log: TimeLog | DeletedTimeLog,
    /** The time of the correction or deletion. */
    private readonly changedAt?: Date,
  ) {}

  /** The cursor from which a consumer continues, even if the log no longer exists. */
  get id(): string {
    return `${this.position}-${this.log.id}`;
  }

  get type(): 'created' | 'corrected' | 'deleted' {
    if (!(this.log instanceof TimeLog)) return 'deleted';
    return this.changedAt === undefined ? 'created' : 'corrected';
  }

  /** The time of the change. Events are not ordered by it. */
  get time(): Date {
    return this.changedAt ?? new Date(createdAtOf(this.log.id));
  }
}

/** Returns the fault of a malformed `lastEventId`, or undefined. */
export function lastEventIdFault(value: unknown): Fault | undefined {
  const isCursor = typeof value === 'string' && (feedCursorFrom(value) ?? OPAQUE_CURSOR.test(value));
  return isCursor ? undefined : faultOf('lastEventId', value, 'event', 'must be the id of an event');
}

/**
 * Returns the cursor after the event with an id. Throws DomainError VALIDATION_ERROR if the id is malformed, or
 * GONE for an opaque cursor, which only the feed of some projects has.
 */
export function parseEventId(eventId: string): FeedCursor {
  const cursor = feedCursorFrom(eventId);
  if (cursor) return cursor;
  const fault = lastEventIdFault(eventId);
  throw fault ? validationError([fault]) : new DomainError(FEED_GONE);
}

/** Returns the cursor after the event with an id, or undefined for another text. */
export function feedCursorFrom(text: string): FeedCursor | undefined {
  const [, position] = EVENT_ID.exec(text) ?? [];
  if (position === undefined || BigInt(position) > MAX_POSITION) return undefined;
  return { position, logId: text.slice(position.length + 1) };
}
