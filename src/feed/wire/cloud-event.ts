import { isoText } from '../../time-log/domain/iso-text.js';
import { TimeLog } from '../../time-log/domain/time-log.js';
import { EVENT_SOURCE } from '../../time-log/time-log.options.js';
import { bodyOf, type TimeLogBody } from '../../time-log/wire/time-log-bodies.js';
import type { DeletedTimeLog, TimeLogEvent } from '../domain/time-log-event.js';

/** The source of the events of one module, which it provides for its feed and for a relay over it. */
export const SOURCE_OF_EVENTS = Symbol.for('time-logs.SOURCE_OF_EVENTS');
/** What a URI-reference is made of (RFC 3986, section 2), with at most one fragment. */
const URI_REFERENCE =
  /^(?:[\w.~:/?[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*(?:#(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9a-f]{2})*)?$/i;

/** An event as everybody gets it, over HTTP or from a broker (CloudEvents 1.0). */
export type CloudEvent = {
  readonly specversion: '1.0';
  /** Says where to go on in the feed. */
  readonly id: string;
  /** A URI-reference. */
  readonly source: string;
  /** The project of the log; the last one of a log that was deleted. */
  readonly subject: string;
  /** When the log was recorded, corrected or deleted. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
} & (
  | {
      readonly type: 'time-log.created' | 'time-log.corrected';
      /** The log as its create or correction was answered. */
      readonly data: TimeLogBody;
    }
  | { readonly type: 'time-log.deleted'; readonly data: DeletedTimeLog }
);

/** The event in the form in which everybody gets it, from the source that the deployment has. */
export function cloudEventOf(
  { id, type, log, time }: TimeLogEvent,
  source: string = EVENT_SOURCE,
): CloudEvent {
  const data = log instanceof TimeLog ? bodyOf(log) : { id: log.id, projectId: log.projectId };
  return {
    specversion: '1.0',
    id,
    source,
    type: `time-log.${type}`,
    subject: log.projectId,
    time: isoText(time.getTime()),
    datacontenttype: 'application/json',
    data,
  } as CloudEvent;
}

/** The source that a host has chosen, or ours. Throws an Error where it is no URI-reference, or empty. */
export function sourceOf(chosen: string = EVENT_SOURCE): string {
  if (chosen !== '' && URI_REFERENCE.test(chosen) && URL.canParse(chosen, 'http://localhost')) return chosen;
  throw new Error(
    'source must be a URI-reference (RFC 3986) that names whose events these are, such as /work/time-logs or urn:example:time-logs',
  );
}
