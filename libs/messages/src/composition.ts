import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import { describeConnection } from './broker-name.js';
import { connectMessages } from './transports/index.js';
import { timeLogs } from '../../../src/time-log/composition.js';
import { MESSAGE_QUEUE } from './time-logs/time-log-messages.controller.js';
import { type MessageOptions, messagesOver } from './time-logs/messages-over.js';

interface Settings {
  readonly messagesUrl: string | undefined;
  readonly limits: { readonly bodyLimit: number };
}

/** The service module for messages about time logs. */
export const timeLogMessages = {
  dependsOn: timeLogs,
  bind: ({ messagesUrl, onMessage }: Settings & MessageOptions, logs: Type | DynamicModule) =>
    messagesUrl === undefined ? undefined : messagesOver(logs, { onMessage, acknowledges: true }),
  describeConnection: ({ messagesUrl }: Settings) =>
    describeConnection('messages', 'MESSAGES_URL', messagesUrl),
  connect: async (
    app: INestApplication,
    { messagesUrl, limits }: Settings,
    { logger }: { readonly logger: LoggerService },
  ) => {
    if (messagesUrl === undefined) return;
    await connectMessages(app, {
      logger,
      url: messagesUrl,
      setting: 'MESSAGES_URL',
      queue: MESSAGE_QUEUE,
      bodyLimit: limits.bodyLimit,
    });
  },
};
