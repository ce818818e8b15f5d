export type { AnsweredMessage } from '../../../libs/messages/src/index.js';
export { MESSAGE_QUEUE } from './time-log-messages.controller.js';
export { type MessageOptions, TimeLogMessagesModule } from './time-log-messages.module.js';
