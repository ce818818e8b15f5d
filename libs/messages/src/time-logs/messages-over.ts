import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { InFlightMessages, ON_MESSAGE, type OnMessage } from '../in-flight-messages.js';
import { ACKNOWLEDGES } from '../message.guard.js';
import { AccessGuard } from '../../../auth/src/index.js';
import { DuplicatePatternCheck } from './duplicate-pattern-check.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

export const HANDLERS: ModuleMetadata = {
  controllers: [TimeLogMessagesController],
  providers: [AccessGuard, InFlightMessages, DuplicatePatternCheck],
};

@Module(HANDLERS)
class BoundTimeLogMessagesModule {}

/** The options of `TimeLogMessagesModule.over`. */
export interface MessageOptions {
  /** Called for each message, for an access log. */
  readonly onMessage?: OnMessage | undefined;
  /**
   * Acknowledges messages of RabbitMQ when their work starts, for a transport with `noAck: false`.
   * The default is false, as for a transport with `noAck: true`, the default of Nest.
   */
  readonly acknowledges?: boolean | undefined;
}

/** Returns a module that handles messages with the services of a module for time logs. */
export function messagesOver(
  timeLogs: Type | DynamicModule,
  { onMessage, acknowledges }: MessageOptions = {},
): DynamicModule {
  return {
    module: BoundTimeLogMessagesModule,
    imports: [timeLogs],
    providers: [
      { provide: ON_MESSAGE, useValue: onMessage },
      { provide: ACKNOWLEDGES, useValue: acknowledges },
    ],
  };
}
