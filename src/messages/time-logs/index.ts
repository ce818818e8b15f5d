export type { AnsweredMessage } from '../in-flight-messages.js';
export { MESSAGE_QUEUE } from './time-log-messages.controller.js';
export { TimeLogMessagesModule } from './time-log-messages.module.js';
