import { type DynamicModule, Module, type ModuleMetadata, type Provider, type Type } from '@nestjs/common';
import { DatabaseModule, databaseOf, registerEntities } from '../../../src/database/index.js';
import { EventRelay } from './event-relay.js';
import { EventRelayMeasures } from './event-relay.measures.js';
import { RelayCheckpoint } from './relay-checkpoint.entity.js';
import { EventSink } from './event-sink.js';
import { INTERVALS, RELAY_INTERVALS, type RelayIntervals } from './relay-intervals.js';

/** What a host may choose for a relay. */
export interface EventRelayOptions {
  /** The name of the DataSource that keeps the logs, where it has one. */
  readonly dataSource?: string | undefined;
  /** What the class of a sink needs. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /** Only for tests, which need not wait as long. */
  readonly intervals?: RelayIntervals | undefined;
}

/** A sink: its class, which may inject what `imports` export; the sink itself; or a function that makes it. */
export type SinkOfHost = Type<EventSink> | EventSink | (() => EventSink | Promise<EventSink>);

/** Publishes the event of every recorded log to a sink. Needs a DataSource with `eventRelayEntities`. */
@Module({})
export class EventRelayModule {
  /**
   * The relay over a TimeLogModule (give the very object that you import elsewhere) into a sink of yours, or into
   * that of a URL: `() => sinkOf('nats://…')`. Where only the DataSource is to be chosen, its name is enough.
   */
  static over(
    timeLogs: Type | DynamicModule,
    sink: SinkOfHost,
    options: EventRelayOptions | string = {},
  ): DynamicModule {
    const {
      dataSource,
      imports = [],
      intervals = RELAY_INTERVALS,
    } = typeof options === 'string' ? { dataSource: options } : options;
    registerEntities([RelayCheckpoint], dataSource);
    const isNamed = dataSource !== undefined;
    return {
      module: EventRelayModule,
      // The door to SQL tells of outages: the same for all where it can be.
      imports: [timeLogs, ...imports, ...(isNamed ? [] : [DatabaseModule])],
      providers: [
        ...(isNamed ? [databaseOf(dataSource)] : []),
        providerOf(sink),
        { provide: INTERVALS, useValue: intervals },
        EventRelay,
        EventRelayMeasures,
      ],
    };
  }
}

function providerOf(sink: SinkOfHost): Provider {
  if (typeof sink !== 'function') return { provide: EventSink, useValue: sink };
  return isClass(sink) ? { provide: EventSink, useClass: sink } : { provide: EventSink, useFactory: sink };
}

/** A function that makes a sink has no methods. The class need not extend our own: there may be two builds of that. */
function isClass(sink: Exclude<SinkOfHost, EventSink>): sink is Type<EventSink> {
  return typeof (sink.prototype as Partial<EventSink> | undefined)?.publish === 'function';
}
