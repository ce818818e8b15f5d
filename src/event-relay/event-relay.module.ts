import {
  type ClassProvider,
  type DynamicModule,
  type FactoryProvider,
  Module,
  type ModuleMetadata,
  type ValueProvider,
} from '@nestjs/common';
import { DatabaseModule, databaseProvider, registerEntities } from '../database/index.js';
import { EventRelay, POLL_MS } from './event-relay.js';
import { EventRelayMeasures } from './event-relay.measures.js';
import { EventSink } from './event-sink.js';
import { RelayCheckpoint } from './relay-lease.js';

/** The provider of a sink: `{ useClass }`, `{ useValue }` or `{ useFactory, inject }`. */
export type SinkProvider =
  | Omit<ClassProvider<EventSink>, 'provide'>
  | Omit<ValueProvider<EventSink>, 'provide'>
  | Omit<FactoryProvider<EventSink>, 'provide'>;

/** Options of a relay. */
export interface EventRelayOptions {
  /** The name of the DataSource of the logs, if it has one. */
  readonly dataSource?: string | undefined;
  /** The modules that export what the sink injects. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /** For tests only: the milliseconds between two reads of the feed. */
  readonly pollMs?: number | undefined;
}

/** Publishes the events of time logs to a sink. Needs a DataSource with `eventRelayEntities`. */
@Module({})
export class EventRelayModule {
  /** Returns the relay from a TimeLogModule (pass the object that you import elsewhere) to a sink. */
  static over(
    timeLogs: DynamicModule,
    sink: SinkProvider,
    { dataSource, imports = [], pollMs = 1_000 }: EventRelayOptions = {},
  ): DynamicModule {
    registerEntities([RelayCheckpoint], dataSource);
    const isNamed = dataSource !== undefined;
    return {
      module: EventRelayModule,
      // DatabaseModule logs outages, so all modules share it if they can.
      imports: [timeLogs, ...imports, ...(isNamed ? [] : [DatabaseModule])],
      providers: [
        ...(isNamed ? [databaseProvider(dataSource)] : []),
        { provide: EventSink, ...sink },
        { provide: POLL_MS, useValue: pollMs },
        EventRelay,
        EventRelayMeasures,
      ],
    };
  }
}
