import type { CloudEvent } from '../../../src/feed/index.js';

/** The port to the place that takes the events, such as a broker. */
export abstract class EventSink {
  /** Names the place without any secret. How far the relay got is noted under this name. */
  abstract readonly name: string;

  /** Makes ready to publish. It is called first, and again after everything that failed. Rejects with the reason. */
  abstract connect(): Promise<void>;

  /**
   * Resolves when the place keeps the event. Rejects with the reason where that is not certain: the same event comes
   * again. It is called for several events at once, of each project and of each log for one at a time.
   */
  abstract publish(event: CloudEvent): Promise<void>;

  /** Lets go of connections. */
  abstract close(): Promise<void>;
}
