/* The client over messages. Its result types and TimeLogError are exported by the index. */

export {
  type MessageProxy,
  TimeLogMessageClient,
  type TimeLogMessageClientOptions,
} from './time-log-message-client.js';
