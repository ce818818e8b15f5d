export { TimeLogMessagesModule } from './time-log-messages.module.js';
