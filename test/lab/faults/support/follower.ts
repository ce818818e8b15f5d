import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { queryOnce } from '../../../support/postgres-cluster.js';
import { ask } from './ask.js';
import { eventually } from '../../eventually.js';

/** Milliseconds between two looks where there is nothing new, or no answer. */
const PAUSE = 20;

/** Follows the feed of a service whatever happens, as a consumer does. */
export class Follower {
  /** The ids of events in the order in which they came. */
  readonly ids: string[] = [];
  private isFollowing = true;
  private readonly following: Promise<void>;

  constructor(private readonly url: string) {
    this.following = this.follow();
  }

  /** Reads on until it has every log of a database, and holds what it has seen against the table itself. */
  async expectAllOf(databaseUrl: string): Promise<void> {
    try {
      await eventually(async () => {
        const rows = await queryOnce<{ id: string }>(
          databaseUrl,
          `select position || '-' || id as id from time_logs order by position, id`,
        );
        expect(this.ids).toHaveLength(rows.length);
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
    while (this.isFollowing) if ((await this.readOn()) === 0) await delay(PAUSE);
  }

  /** How many events have come. None where the service or its database is away. */
  private async readOn(): Promise<number> {
    const last = this.ids.at(-1);
    const place = last === undefined ? '' : `&lastEventId=${last}`;
    const answer = await ask(`${this.url}/api/v1/time-logs/events?limit=100${place}`).catch(() => undefined);
    if (answer?.status !== 200) return 0;
    const events = answer.body as { readonly id: string }[];
    this.ids.push(...events.map(({ id }) => id));
    return events.length;
  }
}
