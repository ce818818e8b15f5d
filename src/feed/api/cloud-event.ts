import { isoText, TimeLog } from '../../time-log/domain/time-log.js';
import { DEFAULT_EVENT_SOURCE } from '../../time-log/time-log.options.js';
import { bodyOf, type TimeLogBody } from '../../time-log/api/responses.js';
import type { DeletedTimeLog, TimeLogEvent } from '../domain/time-log-event.js';

/** The injection token of the event source of a module, for its feed and its relay. */
export const SOURCE_OF_EVENTS = Symbol.for('time-logs.SOURCE_OF_EVENTS');
/** The characters of a URI-reference (RFC 3986, section 2), with at most one fragment. */
const URI_REFERENCE =
  /^(?:[\w.~:/?[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*(?:#(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9a-f]{2})*)?$/i;

/** An event as HTTP and brokers deliver it (CloudEvents 1.0). */
export type CloudEvent = {
  readonly specversion: '1.0';
  /** The cursor in the feed from which a consumer continues. */
  readonly id: string;
  /** A URI-reference. */
  readonly source: string;
  /** The project of the log; for a deleted log its last project. */
  readonly subject: string;
  /** The time at which the log was recorded, corrected or deleted. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
} & (
  | {
      readonly type: 'time-log.created' | 'time-log.corrected';
      /** The log as in the response to its create or correction. */
      readonly data: TimeLogBody;
    }
  | {
      readonly type: 'time-log.deleted';
      /** For consumers of http-feeds. They take an event without it for a `PUT`. */
      readonly method: 'DELETE';
      readonly data: DeletedTimeLog;
    }
);

/** Returns the CloudEvent of an event, with the source of the deployment. */
export function cloudEventOf(
  { id, type, log, time }: TimeLogEvent,
  source: string = DEFAULT_EVENT_SOURCE,
): CloudEvent {
  const data = log instanceof TimeLog ? bodyOf(log) : { id: log.id, projectId: log.projectId };
  return {
    specversion: '1.0',
    id,
    source,
    type: `time-log.${type}`,
    ...(type === 'deleted' && { method: 'DELETE' }),
    subject: log.projectId,
    time: isoText(time.getTime()),
    datacontenttype: 'application/json',
    data,
  } as CloudEvent;
}

/** Returns the source of a host, or the default. Throws an Error if it is empty or not a URI-reference. */
export function requireEventSource(source: string = DEFAULT_EVENT_SOURCE): string {
  if (source !== '' && URI_REFERENCE.test(source) && URL.canParse(source, 'http://localhost')) return source;
  throw new Error(
    'source must be a URI-reference (RFC 3986) that identifies the origin of the events, such as /work/time-logs or urn:example:time-logs',
  );
}
