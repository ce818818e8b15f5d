import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { TimeLog } from './time-log.js';
import { UUID_FORM } from './time-log.rules.js';

/** A regular expression for the id of an event: a position, up to 2^63-1, and the id of a log. */
export const EVENT_ID_FORM = `(0|[1-9][0-9]{0,18})-${UUID_FORM}`;
const EVENT_ID = new RegExp(`^${EVENT_ID_FORM}$`);
const LAST_POSITION = 2n ** 63n - 1n;
const FAULT = 'lastEventId must be the id of an event';

/** A place in the feed: right after the event of this log, whether or not the log is still there. */
export interface FeedPlace {
  /** A decimal number. */
  readonly position: string;
  readonly logId: string;
}

/** A log was recorded. Events have one order, that of position and log: it never changes and is the same for all. */
export class TimeLogEvent {
  constructor(
    /** A decimal number, up to 2^63-1. */
    readonly position: string,
    readonly log: TimeLog,
  ) {}

  /** Says where to go on, also when the log is gone. */
  get id(): string {
    return `${this.position}-${this.log.id}`;
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
