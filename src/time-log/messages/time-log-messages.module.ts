import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { MessagesUnderWay, ON_MESSAGE, type OnMessage } from '../../../libs/message-edge/src/index.js';
import { REQUEST_BOUNDS, type RequestBounds } from '../../../libs/strict-request/src/index.js';
import { TIME_LOG_LIMITS } from '../time-log.limits.js';
import { TimeLogModule } from '../time-log.module.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

const HANDLERS: ModuleMetadata = {
  controllers: [TimeLogMessagesController],
  providers: [MessagesUnderWay, { provide: REQUEST_BOUNDS, useValue: TIME_LOG_LIMITS }],
};

@Module(HANDLERS)
class BoundTimeLogMessagesModule {}

/** What an app may choose for messages. */
export interface MessageOptions {
  /** Other bounds than those of TIME_LOG_LIMITS. */
  readonly bounds?: RequestBounds;
  /** The access log. */
  readonly onMessage?: OnMessage | undefined;
}

/** Time logs over whatever transports the app connects (`connectMicroservice`). Needs what TimeLogModule needs. */
@Module({ imports: [TimeLogModule], ...HANDLERS })
export class TimeLogMessagesModule {
  /** The module over a TimeLogModule with adapters: pass the very object that the app imports. */
  static over(
    timeLogs: Type | DynamicModule,
    { bounds = TIME_LOG_LIMITS, onMessage }: MessageOptions = {},
  ): DynamicModule {
    return {
      module: BoundTimeLogMessagesModule,
      imports: [timeLogs],
      providers: [
        { provide: REQUEST_BOUNDS, useValue: bounds },
        { provide: ON_MESSAGE, useValue: onMessage },
      ],
    };
  }
}
