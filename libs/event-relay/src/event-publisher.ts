import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '../../errors/src/index.js';
import type { OutageLatch } from '../../../src/database/index.js';
import { cloudEventOf } from '../../../src/feed/index.js';
import type { EventSink } from './event-sink.js';
import type { EventWindow, WaitingEvent } from './event-window.js';
import { PublishThrottle } from './publish-throttle.js';
import type { RelayIntervals } from './relay-intervals.js';

/** The most events that are published and not acknowledged at a time. */
const WIDTH = 128;

export interface PublisherOptions {
  readonly window: EventWindow;
  readonly sink: EventSink;
  /** Of the events. */
  readonly source: string;
  /** Whether this instance is still the one that publishes. */
  readonly mayPublish: () => boolean;
  /** Begins where events wait because the sink failed. */
  readonly waiting: OutageLatch;
  readonly intervals: RelayIntervals;
  /** Called after each acknowledgement. */
  readonly onAcknowledged: () => void;
}

/**
 * Publishes the events of a window, several at once. After a failure it connects anew and publishes one event at a
 * time, with pauses that grow, until the broker acknowledges an event that was sent after the failure. An event that
 * failed comes after all others.
 */
export class EventPublisher {
  private readonly throttle = new PublishThrottle(() => this.advance());
  private readonly underWay = new Set<Promise<void>>();
  private isConnected = false;
  /** Milliseconds of the last pause after a failure; 0 while all is well. */
  private pause = 0;
  /** On the clock of `performance`. */
  private failedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly options: PublisherOptions) {
    this.throttle.start();
    this.advance();
  }

  /** Publishes what may be published now. Returns at once. */
  advance(): void {
    while (this.mayTry) {
      if (!this.isConnected) {
        if (this.underWay.size === 0) this.begin(this.connect());
        return;
      }
      const { window } = this.options;
      const waiting = window.next();
      if (!waiting) return;
      if (!this.throttle.take()) {
        window.giveBack(waiting);
        return;
      }
      this.begin(this.publish(waiting));
    }
  }

  /** Publishes nothing more. Resolves when everything under way has ended, at the latest after so many milliseconds. */
  async stop(patience: number): Promise<void> {
    this.isStopped = true;
    this.throttle.stop();
    clearTimeout(this.timer);
    await Promise.race([Promise.all(this.underWay), delay(patience, undefined, { ref: false })]);
  }

  private get mayTry(): boolean {
    const width = this.pause === 0 ? WIDTH : 1;
    return (
      !this.isStopped && this.timer === undefined && this.underWay.size < width && this.options.mayPublish()
    );
  }

  private begin(attempt: Promise<void>): void {
    const ended = attempt.finally(() => {
      this.underWay.delete(ended);
      this.advance();
    });
    this.underWay.add(ended);
  }

  private async connect(): Promise<void> {
    const { sink, window } = this.options;
    const begun = performance.now();
    try {
      await sink.connect();
    } catch (error) {
      this.fail(begun, error);
      return;
    }
    this.isConnected = true;
    // With events that wait, only an acknowledgement shows that all is well.
    if (window.size === 0) this.succeed(begun);
  }

  private async publish(waiting: WaitingEvent): Promise<void> {
    const { sink, source, window, onAcknowledged } = this.options;
    const begun = performance.now();
    try {
      await sink.publish(cloudEventOf(waiting.event, source));
    } catch (error) {
      window.postpone(waiting, this.longer(waiting.pause));
      this.fail(begun, error);
      return;
    }
    window.acknowledge(waiting);
    this.succeed(begun);
    onAcknowledged();
  }

  private succeed(begun: number): void {
    // What was under way when another one failed does not show that the next ones will do.
    if (begun > this.failedAt) this.pause = 0;
    if (!this.options.window.hasFailed) this.options.waiting.end(begun);
  }

  private fail(begun: number, error: unknown): void {
    this.isConnected = false;
    this.failedAt = performance.now();
    this.options.waiting.begin(begun, reasonOf(error));
    if (this.timer !== undefined || this.isStopped) return;
    this.pause = this.longer(this.pause);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.advance();
    }, this.pause).unref();
  }

  private longer(pause: number): number {
    const { retry, longestRetry } = this.options.intervals;
    return Math.min(longestRetry, Math.max(retry, pause * 2));
  }
}
