/** The name of the stream of NATS, of the exchange of RabbitMQ, and of the connections. */
export const EVENTS_NAME = 'time-logs';
/** The subjects and routing keys. They are the types of the events. */
export const SUBJECTS = 'time-log.*';
/** The media type of a CloudEvent in JSON (CloudEvents, JSON event format 1.0). */
export const CONTENT_TYPE = 'application/cloudevents+json';
