import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { InFlightMessages, ON_MESSAGE, type OnMessage } from '../in-flight-messages.js';
import { TimeLogModule } from '../../../host-kit/src/index.js';
import { DuplicatePatternCheck } from './duplicate-pattern-check.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

const HANDLERS: ModuleMetadata = {
  controllers: [TimeLogMessagesController],
  providers: [InFlightMessages, DuplicatePatternCheck],
};

@Module(HANDLERS)
class BoundTimeLogMessagesModule {}

/** The options of `TimeLogMessagesModule.over`. */
export interface MessageOptions {
  /** Called for each message, for an access log. */
  readonly onMessage?: OnMessage | undefined;
}

/** Time logs over the transports of the app (`connectMicroservice`). Imports TimeLogModule. */
@Module({ imports: [TimeLogModule], ...HANDLERS })
export class TimeLogMessagesModule {
  /** Returns a module for the dynamic TimeLogModule: pass the same object that the app imports. */
  static over(timeLogs: Type | DynamicModule, { onMessage }: MessageOptions = {}): DynamicModule {
    return {
      module: BoundTimeLogMessagesModule,
      imports: [timeLogs],
      providers: [{ provide: ON_MESSAGE, useValue: onMessage }],
    };
  }
}
