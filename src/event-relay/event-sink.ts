import type { CloudEvent } from '../feed/index.js';

/** An error of `publish` that concerns its event. The log and a metric name the event. */
export class EventRefusal extends Error {
  /** `retryAfterMs` replaces the delay before the next attempt, within the limits of the sink. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The delays after a failure, in milliseconds. The first one doubles after each further failure. */
export interface RetryDelays {
  readonly first: number;
  readonly longest: number;
}

/** The port to a destination of events, such as a broker. */
export abstract class EventSink {
  /** The name of the destination, without secrets. The progress of the relay is stored under it. */
  abstract readonly name: string;
  /**
   * Whether all events of a page are sent in order without waiting for confirmations. Otherwise events
   * are sent one at a time for each project, for several projects at once.
   */
  readonly isPipelined?: boolean;
  /** The delays that replace those of the relay. */
  readonly retryDelays?: RetryDelays;
  /** Whether the destination wants no more events: none is published until a restart. */
  readonly isStopped?: boolean;

  /** Prepares to publish. Called first, and again after each failure. Rejects with the reason. */
  abstract connect(): Promise<void>;

  /**
   * Resolves when the destination has stored the event. Rejects with the reason if that is not
   * certain: the event is then published again.
   */
  abstract publish(event: CloudEvent): Promise<void>;

  /** Closes connections. */
  abstract close(): Promise<void>;
}
