import type { FeedPlace, TimeLogEvent } from '../time-log/index.js';

/** An event that was read and is not settled. */
export interface WaitingEvent {
  readonly event: TimeLogEvent;
  isAcknowledged: boolean;
}

/**
 * Events that were read and are not yet settled. Hands out each project's events one after the other: the next one when
 * the last one is acknowledged.
 */
export class EventWindow {
  /** In the order of the feed, from the first that is not acknowledged. */
  private readonly order: WaitingEvent[] = [];
  /** Of each project what is not acknowledged, in order. The first one is ready or under way. */
  private readonly projects = new Map<string, WaitingEvent[]>();
  private readonly ready: WaitingEvent[] = [];
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

  /** Takes events that follow those that are here. */
  add(events: readonly TimeLogEvent[]): void {
    for (const event of events) {
      const entry: WaitingEvent = { event, isAcknowledged: false };
      this.order.push(entry);
      const { projectId } = event.log;
      const waiting = this.projects.get(projectId);
      if (waiting) waiting.push(entry);
      else {
        this.projects.set(projectId, [entry]);
        this.ready.push(entry);
      }
    }
  }

  /** The next event that may be published, or undefined. Say what becomes of it: `acknowledge` or `giveBack`. */
  next(): WaitingEvent | undefined {
    return this.ready.shift();
  }

  acknowledge(entry: WaitingEvent): void {
    entry.isAcknowledged = true;
    const { projectId } = entry.event.log;
    const waiting = this.projects.get(projectId)!;
    waiting.shift();
    if (waiting[0]) this.ready.push(waiting[0]);
    else this.projects.delete(projectId);
    while (this.order[0]?.isAcknowledged) {
      const { position, log } = this.order.shift()!.event;
      this.last = { position, logId: log.id };
    }
  }

  /** It was not acknowledged, and comes again before all others. */
  giveBack(entry: WaitingEvent): void {
    this.ready.unshift(entry);
  }
}
