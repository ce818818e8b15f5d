import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { TimeLog } from './time-log.js';

/** A position, up to 2^63-1, and a UUID. */
const EVENT_ID = /^(0|[1-9]\d{0,18})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
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
  const [, position, logId] = EVENT_ID.exec(text) ?? [];
  if (position === undefined || logId === undefined || BigInt(position) > LAST_POSITION) return undefined;
  return { position, logId };
}
