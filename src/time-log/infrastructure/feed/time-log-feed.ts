import { type Database, PreparedStatement } from '../../../database/index.js';
import type { Backlog } from '../../domain/time-log.repository.js';
import { type FeedPlace, TimeLogEvent } from '../../domain/time-log-event.js';
import { TimeLog } from '../../domain/time-log.js';
import { timeLogOf, timeLogSelection, timeLogWeight } from '../time-log-rows.js';

/** Reads the feed. Throws DomainError SERVICE_UNAVAILABLE where the database is away. */
export class TimeLogFeed {
  private events: PreparedStatement | undefined;

  constructor(private readonly database: Database) {}

  /** The next events after a place, or from the beginning. */
  async eventsAfter(place: FeedPlace | undefined, limit: number): Promise<TimeLogEvent[]> {
    // One statement: the rows, and how far they are final, must be of one snapshot.
    this.events ??= new PreparedStatement(`select ${timeLogSelection('log')}, position from ${this.routine}`);
    const rows = await this.database.query(this.events, [place?.position, place?.logId, limit]);
    return rows.map((row) => new TimeLogEvent(row.at(-1)!, timeLogOf(row)));
  }

  /** How many bytes the texts of the next events have. */
  async weigh(place: FeedPlace | undefined, limit: number): Promise<number> {
    const [row] = await this.database.query<{ bytes: number | null }>(
      `select sum(${timeLogWeight('log')})::int as bytes from ${this.routine}`,
      [place?.position, place?.logId, limit],
    );
    return row!.bytes ?? 0;
  }

  private get routine(): string {
    return `${this.database.routine('time_log_events')}($1, $2, $3)`;
  }

  /** How many logs come after a place, at most so many, and when the first of them was recorded. */
  async backlog(place: FeedPlace, most: number): Promise<Backlog> {
    const [row] = await this.database.query<{ events: number; first: string | null }>(
      `select count(*)::int as events, (array_agg(id))[1] as first
         from (select id from ${this.database.table(TimeLog)}
                where (position, id) > ($1, $2) order by position, id limit $3) following`,
      [place.position, place.logId, most],
    );
    const { events, first } = row!;
    return {
      events,
      oldest: first === null ? undefined : Object.assign(TimeLog.blank(), { id: first }).createdAt,
    };
  }
}
