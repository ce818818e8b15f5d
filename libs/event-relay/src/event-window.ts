import type { FeedPlace, TimeLogEvent } from '../../../src/feed/index.js';

/** An event that was read and is not settled. */
export interface WaitingEvent {
  readonly event: TimeLogEvent;
  /** The names of its project and its log. */
  readonly queues: readonly string[];
  isAcknowledged: boolean;
  /** Milliseconds of its last pause after a failure; 0 while it has not failed. */
  pause: number;
  /** On the clock of `performance`: not tried again before. */
  dueAt: number;
}

/**
 * Events that were read and are not yet settled. An event is handed out when every earlier one of its project, and of
 * its log, which may have been of another project, is acknowledged.
 */
export class EventWindow {
  /** In the order of the feed, from the first that is not acknowledged. */
  private readonly order: WaitingEvent[] = [];
  /**
   * Of each project, and of each log, what is not acknowledged, in order. What is first in both is ready or under way.
   */
  private readonly queues = new Map<string, WaitingEvent[]>();
  private readonly ready: WaitingEvent[] = [];
  /** What failed and is not due. */
  private readonly putOff = new Set<WaitingEvent>();
  private failed = 0;
  private last: FeedPlace;

  constructor(start: FeedPlace) {
    this.last = start;
  }

  /** Up to here every event is acknowledged. */
  get settled(): FeedPlace {
    return this.last;
  }

  /** Events from the first that is not acknowledged to the last that was read. */
  get size(): number {
    return this.order.length;
  }

  /** Whether an event that failed is still not acknowledged. */
  get hasFailed(): boolean {
    return this.failed > 0;
  }

  /** Takes events that follow those that are here. */
  add(events: readonly TimeLogEvent[]): void {
    for (const event of events) {
      const { id, projectId } = event.log;
      const queues = [`project ${projectId}`, `log ${id}`];
      const entry: WaitingEvent = { event, queues, isAcknowledged: false, pause: 0, dueAt: 0 };
      this.order.push(entry);
      for (const name of entry.queues) {
        const queue = this.queues.get(name);
        if (queue) queue.push(entry);
        else this.queues.set(name, [entry]);
      }
      if (this.isFirst(entry)) this.ready.push(entry);
    }
  }

  /**
   * The next event that may be published, or undefined. Say what becomes of it: `acknowledge`, `giveBack` or
   * `postpone`.
   */
  next(now = performance.now()): WaitingEvent | undefined {
    for (const entry of this.putOff) {
      if (entry.dueAt > now) continue;
      this.putOff.delete(entry);
      this.ready.push(entry);
    }
    return this.ready.shift();
  }

  acknowledge(entry: WaitingEvent): void {
    entry.isAcknowledged = true;
    if (entry.pause > 0) this.failed--;
    // Of both queues it may be the same.
    const next = new Set<WaitingEvent>();
    for (const name of entry.queues) {
      const queue = this.queues.get(name)!;
      queue.shift();
      if (queue[0]) next.add(queue[0]);
      else this.queues.delete(name);
    }
    for (const following of next) if (this.isFirst(following)) this.ready.push(following);
    while (this.order[0]?.isAcknowledged) {
      const { position, log } = this.order.shift()!.event;
      this.last = { position, logId: log.id };
    }
  }

  /** It was not tried, and comes again before all others. */
  giveBack(entry: WaitingEvent): void {
    this.ready.unshift(entry);
  }

  /**
   * It failed, and comes again after so many milliseconds, and after all that are ready then. Only its own project and
   * log wait for it: the broker may refuse this one event for ever.
   */
  postpone(entry: WaitingEvent, pause: number): void {
    if (entry.pause === 0) this.failed++;
    entry.pause = pause;
    entry.dueAt = performance.now() + pause;
    this.putOff.add(entry);
  }

  private isFirst(entry: WaitingEvent): boolean {
    return entry.queues.every((name) => this.queues.get(name)![0] === entry);
  }
}
