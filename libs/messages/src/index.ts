/* Without it messages have none of the bounds of HTTP: one sender takes all memory, and a shutdown loses answers. */

export { brokerName, connectionOf, natsOptionsOf } from './broker-name.js';
export { MessageErrorFilter } from './message-error.filter.js';
export { MessageGate, MessageGuarded } from './message-gate.js';
export { type AnsweredMessage, MessagesUnderWay, ON_MESSAGE, type OnMessage } from './messages-under-way.js';
export { written } from './written-answer.js';
