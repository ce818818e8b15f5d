import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DatabaseModule } from '../database/index.js';
import { EventRelay } from './event-relay.js';
import { EventRelayMeasures } from './event-relay.measures.js';
import { EventSink } from './event-sink.js';

/** Publishes the event of every recorded log to a sink. Needs a DataSource with `eventRelayEntities`. */
@Module({})
export class EventRelayModule {
  /**
   * The relay over a TimeLogModule (give the very object that you import elsewhere) into a sink of yours, or into
   * that of a URL: `sinkOf('nats://…')`.
   */
  static over(timeLogs: Type | DynamicModule, sink: () => EventSink | Promise<EventSink>): DynamicModule {
    return {
      module: EventRelayModule,
      imports: [DatabaseModule, timeLogs],
      providers: [{ provide: EventSink, useFactory: sink }, EventRelay, EventRelayMeasures],
    };
  }
}
