import { DomainError, type ErrorKind } from '../../../libs/errors/src/domain-error.js';
import { createdAtOf, TimeLog } from '../../time-log/domain/time-log.js';
import { UUID_FORM } from '../../time-log/domain/time-log.rules.js';

/** A regular expression for the id of an event: a position, up to 2^63-1, and the id of a log. */
export const EVENT_ID_FORM = `(0|[1-9][0-9]{0,18})-${UUID_FORM}`;
const EVENT_ID = new RegExp(`^${EVENT_ID_FORM}$`);
const LAST_POSITION = 2n ** 63n - 1n;
const FAULT = 'lastEventId must be the id of an event';

/** The message for a caller who is bound to projects: the feed has the logs of all. */
export const FEED_REFUSED = 'the feed needs a token for all projects';

/** Deletions that came after a place have been forgotten. */
export const FEED_GONE: ErrorKind = {
  code: 'GONE',
  status: 410,
  message: 'the feed no longer reaches back to this event: start again with an empty copy',
};

/** A place in the feed: right after the event of this log, whether or not the log is still there. */
export interface FeedPlace {
  /** A decimal number. */
  readonly position: string;
  readonly logId: string;
}

/** What is left of a log that was deleted. */
export type DeletedTimeLog = Pick<TimeLog, 'id' | 'projectId'>;

/**
 * A log was recorded, corrected or deleted. Events have one order, that of position and log: it never changes and is
 * the same for all.
 */
export class TimeLogEvent {
  constructor(
    /** A decimal number, up to 2^63-1. */
    readonly position: string,
    /** As it is now. Of one that was deleted id and last project are left. */
    readonly log: TimeLog | DeletedTimeLog,
    /** When the log was corrected or deleted. */
    private readonly changedAt?: Date,
  ) {}

  /** Says where to go on, also when the log is gone. */
  get id(): string {
    return `${this.position}-${this.log.id}`;
  }

  get type(): 'created' | 'corrected' | 'deleted' {
    if (!(this.log instanceof TimeLog)) return 'deleted';
    return this.changedAt === undefined ? 'created' : 'corrected';
  }

  /** When that happened. Events come in another order. */
  get time(): Date {
    return this.changedAt ?? new Date(createdAtOf(this.log.id));
  }
}

/** What is wrong with the id of an event from which to go on, or undefined. */
export function lastEventIdFault(value: unknown): string | undefined {
  return typeof value === 'string' && placeIn(value) ? undefined : FAULT;
}

/** The place that the id of an event names. Throws DomainError VALIDATION_ERROR where it is none. */
export function placeOf(eventId: string): FeedPlace {
  const place = placeIn(eventId);
  if (place === undefined) throw new DomainError('VALIDATION_ERROR', FAULT);
  return place;
}

function placeIn(text: string): FeedPlace | undefined {
  const [, position] = EVENT_ID.exec(text) ?? [];
  if (position === undefined || BigInt(position) > LAST_POSITION) return undefined;
  return { position, logId: text.slice(position.length + 1) };
}
