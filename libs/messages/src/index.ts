/* Without it one sender of messages can use all memory, and a shutdown loses replies. */

export { brokerName, describeConnection, natsOptionsOf } from './broker-name.js';
export { brokerFailureOf, caOf } from './broker-tls.js';
export { MessageErrorFilter } from './message-error.filter.js';
export { MessageGate, HandOverGuard } from './message-gate.js';
export { type AnsweredMessage, InFlightMessages, ON_MESSAGE, type OnMessage } from './in-flight-messages.js';
export { withJson } from './packet-json.js';
