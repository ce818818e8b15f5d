import type { CloudEvent } from '../../../src/feed/index.js';
import type { RelayIntervals } from './relay-intervals.js';

/** An error of `publish` that concerns one event: those of other projects are published meanwhile. */
export class EventRefusal extends Error {
  /** `retryAfterMs` replaces the delay before the next try, within the limits of the relay. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The port to a destination of events, such as a broker. */
export abstract class EventSink {
  /** The name of the destination, without secrets. The progress of the relay is stored under it. */
  abstract readonly name: string;
  /** The maximum number of events in flight, if it is less than that of the relay. */
  readonly maxInFlight?: number;
  /** The delays after a failure that replace those of the relay. */
  readonly retryDelays?: Pick<RelayIntervals, 'retry' | 'longestRetry'>;
  /** Whether the destination wants no more events: none is published until a restart. */
  readonly isStopped?: boolean;

  /** Prepares to publish. Called first, and again after each failure. Rejects with the reason. */
  abstract connect(): Promise<void>;

  /**
   * Resolves when the destination has stored the event. Rejects with the reason if that is not
   * certain: the event is then published again. Called for several events at once, but for one at a
   * time of each project and of each log.
   */
  abstract publish(event: CloudEvent): Promise<void>;

  /** Closes connections. */
  abstract close(): Promise<void>;
}
