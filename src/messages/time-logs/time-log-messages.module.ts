import { type DynamicModule, Module } from '@nestjs/common';
import { AccessGuard } from '../../../libs/auth/src/index.js';
import { InFlightMessages, ON_MESSAGE, type OnMessage } from '../in-flight-messages.js';
import { ACKNOWLEDGES } from '../message-enhancers.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

/** The options of `TimeLogMessagesModule.over`. */
interface MessageOptions {
  /** Called for each message, for an access log. */
  readonly onMessage?: OnMessage | undefined;
  /**
   * Acknowledges messages of RabbitMQ when their work starts, for a transport with `noAck: false`.
   * The default is false, as for a transport with `noAck: true`, the default of Nest.
   */
  readonly acknowledges?: boolean | undefined;
}

/** Time logs over the transports of the app (`connectMicroservice`). */
@Module({
  controllers: [TimeLogMessagesController],
  providers: [AccessGuard, InFlightMessages],
})
export class TimeLogMessagesModule {
  /** Returns a module for a TimeLogModule: pass the object that the app imports. */
  static over(timeLogs: DynamicModule, { onMessage, acknowledges }: MessageOptions = {}): DynamicModule {
    return {
      module: TimeLogMessagesModule,
      imports: [timeLogs],
      providers: [
        { provide: ON_MESSAGE, useValue: onMessage },
        { provide: ACKNOWLEDGES, useValue: acknowledges },
      ],
    };
  }
}
