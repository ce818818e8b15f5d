import type { TimeLogEvent } from '../domain/time-log-event.js';
import { bodyOf, type TimeLogBody } from './time-log-bodies.js';

/** The same wherever the module is mounted: source and id together name an event (CloudEvents 1.0, section 3.1). */
export const EVENT_SOURCE = '/api/v1/time-logs';
export const EVENT_TYPE = 'time-log.created';

/** The type of a page of events (CloudEvents 1.0, JSON batch format). */
export const EVENTS_TYPE = 'application/cloudevents-batch+json; charset=utf-8';

/** An event as everybody gets it, over HTTP or from a broker (CloudEvents 1.0). */
export interface CloudEvent {
  readonly specversion: '1.0';
  /** Says where to go on in the feed. */
  readonly id: string;
  readonly source: typeof EVENT_SOURCE;
  readonly type: typeof EVENT_TYPE;
  /** The project of the log. */
  readonly subject: string;
  /** When the log was recorded, as in `data`. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  /** The log as its create was answered. */
  readonly data: TimeLogBody;
}

export function cloudEventOf({ id, log }: TimeLogEvent): CloudEvent {
  const data = bodyOf(log);
  return {
    specversion: '1.0',
    id,
    source: EVENT_SOURCE,
    type: EVENT_TYPE,
    subject: data.projectId,
    time: data.createdAt,
    datacontenttype: 'application/json',
    data,
  };
}
