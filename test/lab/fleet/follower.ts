import { setTimeout as delay } from 'node:timers/promises';
import { type Fleet, TOKEN } from './fleet.js';

/** Milliseconds until the next look at a feed that had no full page, or gave no answer. */
const PAUSE = 50;
/** Events of a page. */
const PAGE = 1_000;

interface Event {
  readonly id: string;
  readonly data: { readonly id: string };
}

/** A consumer of the feed, who goes on from the last event that it got, whatever happens. */
export class Follower {
  /** The ids of all events, in the order in which they came. */
  readonly ids: string[] = [];
  /** The ids of their logs. */
  readonly logs: string[] = [];
  failed = 0;
  private isFollowing = true;
  private readonly following: Promise<void>;

  constructor(private readonly fleet: Fleet) {
    this.following = this.follow();
  }

  async stop(): Promise<void> {
    this.isFollowing = false;
    await this.following;
  }

  private async follow(): Promise<void> {
    while (this.isFollowing) {
      const events = await this.next();
      for (const { id, data } of events) {
        this.ids.push(id);
        this.logs.push(data.id);
      }
      if (events.length < PAGE) await delay(PAUSE);
    }
  }

  private async next(): Promise<Event[]> {
    const last = this.ids.at(-1);
    const query = `limit=${PAGE}${last === undefined ? '' : `&lastEventId=${last}`}`;
    try {
      const answer = await this.fleet.fetch(`/api/v1/time-logs/events?${query}`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      if (answer.status === 200) return (await answer.json()) as Event[];
      await answer.arrayBuffer();
    } catch {
      // The connection was lost.
    }
    this.failed++;
    return [];
  }
}
