import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { InFlightMessages, ON_MESSAGE, type OnMessage } from '../../../libs/messages/src/index.js';
import { TimeLogModule } from '../time-log.module.js';
import { OneOfEachPattern } from './one-of-each-pattern.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

const HANDLERS: ModuleMetadata = {
  controllers: [TimeLogMessagesController],
  providers: [InFlightMessages, OneOfEachPattern],
};

@Module(HANDLERS)
class BoundTimeLogMessagesModule {}

/** What an app may choose for messages. */
export interface MessageOptions {
  /** The access log. */
  readonly onMessage?: OnMessage | undefined;
}

/** Time logs over whatever transports the app connects (`connectMicroservice`). Needs what TimeLogModule needs. */
@Module({ imports: [TimeLogModule], ...HANDLERS })
export class TimeLogMessagesModule {
  /** The module over that of TimeLogModule's forRoot or withAdapters: pass the very object that the app imports. */
  static over(timeLogs: Type | DynamicModule, { onMessage }: MessageOptions = {}): DynamicModule {
    return {
      module: BoundTimeLogMessagesModule,
      imports: [timeLogs],
      providers: [{ provide: ON_MESSAGE, useValue: onMessage }],
    };
  }
}
