/** Of the stream or exchange. */
export const NAME = 'time-logs';
/** The subjects or routing keys: the types of the events. */
export const SUBJECTS = 'time-log.*';
/** Why a connection fails that was closed while it was made. */
export const UNWANTED = 'the connection is not wanted any more';
/** Of a CloudEvent as one JSON text (CloudEvents, JSON event format 1.0). */
export const CONTENT_TYPE = 'application/cloudevents+json';
