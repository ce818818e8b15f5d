/* The client over messages. The types of its answers, and TimeLogError, are those of the index. */

export {
  type MessageProxy,
  TimeLogMessageClient,
  type TimeLogMessageClientOptions,
} from './time-log-message-client.js';
