import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { queryOnce } from '../../../support/postgres-cluster.js';
import { eventually } from '../../../support/eventually.js';

/** Milliseconds until the next look at a feed that had no full page, or gave no answer. */
const POLL_INTERVAL_MS = 20;
/** Events of a page. */
const PAGE = 1_000;

/** A consumer of the feed that goes on from the last event that it got, whatever happens. */
export class Follower {
  /** The ids of events in the order in which they came. */
  readonly ids: string[] = [];
  private isFollowing = true;
  private readonly following: Promise<void>;

  /** Asks the service for a path; may reject. */
  constructor(private readonly ask: (path: string) => Promise<{ status: number; body: unknown }>) {
    this.following = this.follow();
  }

  /** The ids of their logs. */
  get logs(): string[] {
    return this.ids.map((eventId) => eventId.slice(eventId.indexOf('-') + 1));
  }

  /** Reads on until it has every log of a database, and holds what it has seen against the table itself. */
  async expectAllOf(databaseUrl: string): Promise<void> {
    try {
      await eventually(async () => {
        const rows = await queryOnce<{ id: string }>(
          databaseUrl,
          `select position || '-' || id as id from time_logs order by position, id`,
        );
        expect(this.ids).toEqual(rows.map(({ id }) => id));
      });
    } finally {
      await this.stop();
    }
  }

  async stop(): Promise<void> {
    this.isFollowing = false;
    await this.following;
  }

  private async follow(): Promise<void> {
    while (this.isFollowing) {
      const last = this.ids.at(-1);
      const query = `limit=${PAGE}${last === undefined ? '' : `&lastEventId=${last}`}`;
      const answer = await this.ask(`/api/v1/time-logs/events?${query}`).catch(() => undefined);
      const events = answer?.status === 200 ? (answer.body as { readonly id: string }[]) : [];
      this.ids.push(...events.map(({ id }) => id));
      if (events.length < PAGE) await delay(POLL_INTERVAL_MS);
    }
  }
}
