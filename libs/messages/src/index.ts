export { outletOf } from './answer-outlet.js';
export { brokerName } from './broker-name.js';
export { MessageErrorFilter } from './message-error.filter.js';
export { MessageGate, MessageGuarded } from './message-gate.js';
export { type AnsweredMessage, MessagesUnderWay, ON_MESSAGE, type OnMessage } from './messages-under-way.js';
