import type { FeedPlace, TimeLogEvent } from '../../../src/feed/index.js';

/** An event that was read and is not settled. */
export interface WaitingEvent {
  readonly event: TimeLogEvent;
  /** The names of the queues of its project and its log. */
  readonly queues: readonly string[];
  isAcknowledged: boolean;
  /** Its last delay after a failure; 0 if it has not failed. */
  delayMs: number;
  /** The time of its next try, in milliseconds of `performance.now()`. */
  dueAt: number;
}

/**
 * Events that were read and are not settled. An event is handed out when all earlier ones of its
 * project and of its log are acknowledged. A log may have moved between projects.
 */
export class EventWindow {
  /** The events in the order of the feed, from the first that is not acknowledged. */
  private readonly entries: WaitingEvent[] = [];
  /** Unacknowledged events by project and by log. The first of both is ready or in flight. */
  private readonly queues = new Map<string, WaitingEvent[]>();
  private readonly ready: WaitingEvent[] = [];
  /** Events that failed and are not due. */
  private readonly postponed = new Set<WaitingEvent>();
  private failedCount = 0;
  private settledPlace: FeedPlace;

  constructor(start: FeedPlace) {
    this.settledPlace = start;
  }

  /** The place up to which all events are acknowledged. */
  get settled(): FeedPlace {
    return this.settledPlace;
  }

  /** The number of events from the first that is not acknowledged to the last that was read. */
  get size(): number {
    return this.entries.length;
  }

  /** Whether an event has failed and is not acknowledged yet. */
  get hasFailed(): boolean {
    return this.failedCount > 0;
  }

  /** Appends the next events of the feed. */
  add(events: readonly TimeLogEvent[]): void {
    for (const event of events) {
      const { id, projectId } = event.log;
      const queues = [`project ${projectId}`, `log ${id}`];
      const entry: WaitingEvent = { event, queues, isAcknowledged: false, delayMs: 0, dueAt: 0 };
      this.entries.push(entry);
      for (const name of entry.queues) {
        const queue = this.queues.get(name);
        if (queue) queue.push(entry);
        else this.queues.set(name, [entry]);
      }
      if (this.isFirst(entry)) this.ready.push(entry);
    }
  }

  /** Returns the next event to publish, which needs `acknowledge` or `postpone`. */
  next(now = performance.now()): WaitingEvent | undefined {
    for (const entry of this.postponed) {
      if (entry.dueAt > now) continue;
      this.postponed.delete(entry);
      this.ready.push(entry);
    }
    return this.ready.shift();
  }

  acknowledge(entry: WaitingEvent): void {
    entry.isAcknowledged = true;
    if (entry.delayMs > 0) this.failedCount--;
    // Both queues may have the same next event.
    const next = new Set<WaitingEvent>();
    for (const name of entry.queues) {
      const queue = this.queues.get(name)!;
      queue.shift();
      if (queue[0]) next.add(queue[0]);
      else this.queues.delete(name);
    }
    for (const following of next) if (this.isFirst(following)) this.ready.push(following);
    while (this.entries[0]?.isAcknowledged) {
      const { position, log } = this.entries.shift()!.event;
      this.settledPlace = { position, logId: log.id };
    }
  }

  /**
   * Returns an event that failed. It is handed out again after the delay, and after all that are
   * ready then. Only its own project and log wait for it: the broker may refuse it forever.
   */
  postpone(entry: WaitingEvent, delayMs: number): void {
    if (entry.delayMs === 0) this.failedCount++;
    entry.delayMs = delayMs;
    entry.dueAt = performance.now() + delayMs;
    this.postponed.add(entry);
  }

  private isFirst(entry: WaitingEvent): boolean {
    return entry.queues.every((name) => this.queues.get(name)![0] === entry);
  }
}
