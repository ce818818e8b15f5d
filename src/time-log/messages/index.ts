export type { AnsweredMessage } from '../../../libs/message-edge/src/index.js';
export { type MessageOptions, TimeLogMessagesModule } from './time-log-messages.module.js';
