import type { DynamicModule, Type } from '@nestjs/common';
import { timeLogs } from '../composition.js';
import { type MessageOptions, TimeLogMessagesModule } from './time-log-messages.module.js';

interface Settings extends MessageOptions {
  readonly messagesUrl?: string | undefined;
}

/** Time logs over messages, as the service binds them. */
export const timeLogMessages = {
  over: timeLogs,
  bind: ({ messagesUrl, onMessage }: Settings, logs: Type | DynamicModule) =>
    messagesUrl === undefined ? undefined : TimeLogMessagesModule.over(logs, { onMessage }),
};
