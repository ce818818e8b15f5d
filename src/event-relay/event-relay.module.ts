import { type DynamicModule, Module, type ModuleMetadata, type Provider, type Type } from '@nestjs/common';
import { DatabaseModule, databaseProvider, registerEntities } from '../database/index.js';
import { EventRelay, POLL_MS } from './event-relay.js';
import { EventRelayMeasures } from './event-relay.measures.js';
import { EventSink } from './event-sink.js';
import { RelayCheckpoint } from './relay-lease.js';

/** Options of a relay. */
export interface EventRelayOptions {
  /** The name of the DataSource of the logs, if it has one. */
  readonly dataSource?: string | undefined;
  /** The modules that export what the sink class injects. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /** For tests only: the milliseconds between two reads of the feed. */
  readonly pollMs?: number | undefined;
}

/** A sink: its class, the sink itself, or a function that creates it. */
export type SinkOfHost = Type<EventSink> | EventSink | (() => EventSink | Promise<EventSink>);

/** Publishes the events of time logs to a sink. Needs a DataSource with `eventRelayEntities`. */
@Module({})
export class EventRelayModule {
  /**
   * Returns the relay from a TimeLogModule (pass the object that you import elsewhere) to a sink:
   * your own, or that of a URL: `() => sinkOf('nats://…')`. The name of a DataSource may be passed
   * instead of options.
   */
  static over(
    timeLogs: Type | DynamicModule,
    sink: SinkOfHost,
    options: EventRelayOptions | string = {},
  ): DynamicModule {
    const {
      dataSource,
      imports = [],
      pollMs = 1_000,
    }: EventRelayOptions = typeof options === 'string' ? { dataSource: options } : options;
    registerEntities([RelayCheckpoint], dataSource);
    const isNamed = dataSource !== undefined;
    return {
      module: EventRelayModule,
      // DatabaseModule logs outages, so all modules share it if they can.
      imports: [timeLogs, ...imports, ...(isNamed ? [] : [DatabaseModule])],
      providers: [
        ...(isNamed ? [databaseProvider(dataSource)] : []),
        providerOf(sink),
        { provide: POLL_MS, useValue: pollMs },
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

/**
 * Returns whether a function is a sink class: a factory has no methods. There may be two builds of
 * EventSink, so the class need not extend ours.
 */
function isClass(sink: Exclude<SinkOfHost, EventSink>): sink is Type<EventSink> {
  return typeof (sink.prototype as Partial<EventSink> | undefined)?.publish === 'function';
}
