export { MessageErrorFilter } from './message-error.filter.js';
export { MessageGate } from './message-gate.js';
export { MessagesUnderWay } from './messages-under-way.js';
