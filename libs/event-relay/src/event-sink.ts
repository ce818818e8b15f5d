import type { CloudEvent } from '../../../src/feed/index.js';

/** The port to a destination of events, such as a broker. */
export abstract class EventSink {
  /** The name of the destination, without secrets. The progress of the relay is stored under it. */
  abstract readonly name: string;

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
