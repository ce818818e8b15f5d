import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DatabaseModule, databaseOf, registerEntities } from '../database/index.js';
import { EventRelay } from './event-relay.js';
import { EventRelayMeasures } from './event-relay.measures.js';
import { RelayCheckpoint } from './relay-checkpoint.entity.js';
import { EventSink } from './event-sink.js';

/** Publishes the event of every recorded log to a sink. Needs a DataSource with `eventRelayEntities`. */
@Module({})
export class EventRelayModule {
  /**
   * The relay over a TimeLogModule (give the very object that you import elsewhere) into a sink of yours, or into
   * that of a URL: `sinkOf('nats://…')`. Where the DataSource of the logs has a name, give it.
   */
  static over(
    timeLogs: Type | DynamicModule,
    sink: () => EventSink | Promise<EventSink>,
    dataSource?: string,
  ): DynamicModule {
    registerEntities([RelayCheckpoint], dataSource);
    const isNamed = dataSource !== undefined;
    return {
      module: EventRelayModule,
      // The door to SQL tells of outages: the same for all where it can be.
      imports: [timeLogs, ...(isNamed ? [] : [DatabaseModule])],
      providers: [
        ...(isNamed ? [databaseOf(dataSource)] : []),
        { provide: EventSink, useFactory: sink },
        EventRelay,
        EventRelayMeasures,
      ],
    };
  }
}
