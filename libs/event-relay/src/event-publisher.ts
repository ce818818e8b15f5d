import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '../../errors/src/index.js';
import type { OutageLatch } from '../../../src/database/index.js';
import { cloudEventOf } from '../../../src/feed/index.js';
import { EventRefusal, type EventSink } from './event-sink.js';
import type { EventWindow, WaitingEvent } from './event-window.js';
import { PublishThrottle } from './publish-throttle.js';
import type { RelayIntervals } from './relay-intervals.js';

/** The maximum number of events that are published and not acknowledged, if the sink sets none. */
const MAX_IN_FLIGHT = 128;

export interface PublisherOptions {
  readonly window: EventWindow;
  readonly sink: EventSink;
  /** The `source` of the events. */
  readonly source: string;
  /** Returns whether this instance still holds the lease. */
  readonly mayPublish: () => boolean;
  /** Is on while events wait because the sink failed. */
  readonly waiting: OutageLatch;
  readonly intervals: RelayIntervals;
  /** Called after each acknowledgement. */
  readonly onAcknowledged: () => void;
}

/**
 * Publishes the events of a window, several at once. After a failure it connects again and
 * publishes one event at a time, with growing delays, until the broker acknowledges an event that
 * was sent after the failure. An event that failed comes after all others. One that was refused
 * holds up its own project and log only.
 */
export class EventPublisher {
  private readonly throttle = new PublishThrottle(() => this.advance());
  private readonly inFlight = new Set<Promise<void>>();
  private isConnected = false;
  /** The last delay after a failure; 0 while the sink works. */
  private delayMs = 0;
  /** The time of the last failure, in milliseconds of `performance.now()`. */
  private failedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly options: PublisherOptions) {
    this.advance();
  }

  /** Starts to publish the events that may be published now. */
  advance(): void {
    while (this.mayStart) {
      if (!this.isConnected) {
        if (this.inFlight.size === 0) this.start(this.connect());
        return;
      }
      const waiting = this.throttle.hasAllowance ? this.options.window.next() : undefined;
      if (!waiting) return;
      this.throttle.count();
      this.start(this.publish(waiting));
    }
  }

  /** Stops publishing. Resolves when nothing is in flight, or after the timeout. */
  async stop(timeoutMs: number): Promise<void> {
    this.isStopped = true;
    this.throttle.stop();
    clearTimeout(this.timer);
    await Promise.race([Promise.all(this.inFlight), delay(timeoutMs, undefined, { ref: false })]);
  }

  private get mayStart(): boolean {
    const { sink, mayPublish } = this.options;
    const limit = this.delayMs === 0 ? (sink.maxInFlight ?? MAX_IN_FLIGHT) : 1;
    const isStopped = this.isStopped || sink.isStopped;
    return !isStopped && this.timer === undefined && this.inFlight.size < limit && mayPublish();
  }

  private start(attempt: Promise<void>): void {
    const ended = attempt.finally(() => {
      this.inFlight.delete(ended);
      this.advance();
    });
    this.inFlight.add(ended);
  }

  private async connect(): Promise<void> {
    const { sink, window } = this.options;
    const startedAt = performance.now();
    try {
      await sink.connect();
    } catch (error) {
      this.fail(startedAt, error);
      return;
    }
    this.isConnected = true;
    // If events wait, only an acknowledgement shows that the sink works.
    if (window.size === 0) this.succeed(startedAt);
  }

  private async publish(waiting: WaitingEvent): Promise<void> {
    const { sink, source, window, onAcknowledged } = this.options;
    const startedAt = performance.now();
    try {
      await sink.publish(cloudEventOf(waiting.event, source));
    } catch (error) {
      const wanted = error instanceof EventRefusal ? error.retryAfterMs : undefined;
      window.postpone(waiting, this.nextDelay(waiting.delayMs, wanted));
      if (sink.isStopped) return;
      if (error instanceof EventRefusal) this.refuse(startedAt, error);
      else this.fail(startedAt, error);
      return;
    }
    window.acknowledge(waiting);
    this.succeed(startedAt);
    onAcknowledged();
  }

  private succeed(startedAt: number): void {
    this.noteAnswer(startedAt);
    if (!this.options.window.hasFailed) this.options.waiting.end(startedAt);
  }

  private refuse(startedAt: number, error: EventRefusal): void {
    this.noteAnswer(startedAt);
    this.options.waiting.begin(startedAt, reasonOf(error));
  }

  private noteAnswer(startedAt: number): void {
    // An event that was in flight at the failure does not show that the sink works again.
    if (startedAt > this.failedAt) this.delayMs = 0;
  }

  private fail(startedAt: number, error: unknown): void {
    this.isConnected = false;
    this.failedAt = performance.now();
    this.options.waiting.begin(startedAt, reasonOf(error));
    if (this.timer !== undefined || this.isStopped) return;
    this.delayMs = this.nextDelay(this.delayMs);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.advance();
    }, this.delayMs).unref();
  }

  private nextDelay(delayMs: number, wanted = delayMs * 2): number {
    const { sink, intervals } = this.options;
    const { retry, longestRetry } = sink.retryDelays ?? intervals;
    return Math.min(longestRetry, Math.max(retry, wanted));
  }
}
