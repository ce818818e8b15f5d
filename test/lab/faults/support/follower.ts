import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { queryOnce } from '../../../support/postgres-cluster.js';
import { eventually } from '../../../support/eventually.js';
import { LOG } from '../../../support/requests.js';
import { ask } from './ask.js';

/** Milliseconds until the next look at a feed that had no full page, or gave no answer. */
const POLL_INTERVAL_MS = 20;
/** Events of a page. */
const PAGE = 1_000;

/** A consumer of the feed that goes on from the last event that it got, whatever happens. */
export class Follower {
  /** The ids of events in the order in which they came. */
  readonly ids: string[] = [];
  /** How many requests had no answer, or another one. */
  failed = 0;
  private isFollowing = true;
  private readonly following: Promise<void>;

  /** Asks the service for a path; may reject. */
  constructor(private readonly ask: (path: string) => Promise<{ status: number; body: unknown }>) {
    this.following = this.follow();
  }

  /** The ids of their logs. */
  get logs(): string[] {
    return this.ids.map(logOf);
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
      const events = answer?.status === 200 ? (answer.body as { readonly id: string }[]) : undefined;
      if (events === undefined) this.failed++;
      this.ids.push(...(events ?? []).map(({ id }) => id));
      if ((events?.length ?? 0) < PAGE) await delay(POLL_INTERVAL_MS);
    }
  }
}

/** A service, wherever it listens. */
interface Service {
  readonly url: string;
}

/** Records a log; its id. */
export async function record({ url }: Service): Promise<string> {
  const { status, body } = await ask(`${url}/api/v1/time-logs`, { body: JSON.stringify(LOG) });
  expect(status).toBe(201);
  return (body as { readonly data: { readonly id: string } }).data.id;
}

/** The ids of the events after one, or from the beginning. */
export async function eventsAfter({ url }: Service, lastEventId?: string): Promise<string[]> {
  const query = lastEventId === undefined ? '' : `?lastEventId=${lastEventId}`;
  const { status, body } = await ask(`${url}/api/v1/time-logs/events${query}`);
  expect([status, body]).toEqual([200, expect.any(Array)]);
  return (body as { readonly id: string }[]).map(({ id }) => id);
}

/** The id of the log that an event tells of. */
export const logOf = (eventId: string) => eventId.slice(eventId.indexOf('-') + 1);
