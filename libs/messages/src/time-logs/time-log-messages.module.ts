import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { TimeLogModule } from '../../../host-kit/src/index.js';
import { HANDLERS, type MessageOptions, messagesOver } from './messages-over.js';

/** Time logs over the transports of the app (`connectMicroservice`). Imports TimeLogModule. */
@Module({ imports: [TimeLogModule], ...HANDLERS })
export class TimeLogMessagesModule {
  /** Returns a module for the dynamic TimeLogModule: pass the same object that the app imports. */
  static over(timeLogs: Type | DynamicModule, options?: MessageOptions): DynamicModule {
    return messagesOver(timeLogs, options);
  }
}
