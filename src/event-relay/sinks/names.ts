/** Of the stream or exchange. */
export const NAME = 'time-logs';
/** The subject or routing key. */
export const SUBJECT = 'time-log.created';
/** Of a CloudEvent as one JSON text (CloudEvents, JSON event format 1.0). */
export const CONTENT_TYPE = 'application/cloudevents+json';
