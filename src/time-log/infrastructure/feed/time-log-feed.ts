import { DomainError } from '../../../../libs/errors/src/index.js';
import { type Database, hasState, PreparedStatement, type TextRow } from '../../../database/index.js';
import type { Backlog } from '../../domain/time-log.repository.js';
import { FEED_GONE, type FeedPlace, TimeLogEvent } from '../../domain/time-log-event.js';
import { createdAtOf, TimeLog } from '../../domain/time-log.js';
import { TimeLogDeletion } from '../time-log-deletion.entity.js';
import type { TimeLogRows } from '../time-log-rows.js';

/** SQLSTATE: what a reader must know about logs before this place is forgotten (schema/feed.sql). */
const IS_GONE = /^TL410$/;

/** Of a time, whatever the form that the server gives to times. */
const millisecondsOf = (time: string) => `(1000 * extract(epoch from ${time}))::bigint`;
/** What follows the values of a log in a row. */
const BESIDE_LOG = [
  '(deletion).id',
  '(deletion).project_id',
  millisecondsOf('coalesce((log).corrected_at, (deletion).deleted_at)'),
  'position',
];

/**
 * Reads the feed. Throws DomainError SERVICE_UNAVAILABLE where the database is away, or GONE where what came after a
 * place is forgotten.
 */
export class TimeLogFeed {
  private events: PreparedStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
  ) {}

  /** The next events after a place, or from the beginning. */
  async eventsAfter(place: FeedPlace | undefined, limit: number): Promise<TimeLogEvent[]> {
    // One statement: the rows, and how far they are final, must be of one snapshot.
    this.events ??= new PreparedStatement(
      `select ${this.rows.selection('log')}, ${BESIDE_LOG.map((column, index) => `${column} as beside_${index}`).join()} from ${this.routine}`,
    );
    const rows = await this.database
      .query(this.events, [place?.position, place?.logId, limit])
      .catch(refuseGone);
    return rows.map((row) => this.eventOf(row));
  }

  /** How many bytes the texts of the next events have. */
  async weigh(place: FeedPlace | undefined, limit: number): Promise<number> {
    const [row] = await this.database
      .query<{ bytes: string | null }>(
        `select sum(${this.rows.weight('log')}) as bytes from ${this.routine}`,
        [place?.position, place?.logId, limit],
      )
      .catch(refuseGone);
    return Number(row!.bytes);
  }

  private eventOf(row: TextRow): TimeLogEvent {
    const [deletedId, projectId, milliseconds, position] = row.slice(-BESIDE_LOG.length);
    const log = deletedId == null ? this.rows.log(row) : { id: deletedId, projectId: projectId! };
    return new TimeLogEvent(
      position!,
      log,
      milliseconds == null ? undefined : new Date(Number(milliseconds)),
    );
  }

  private get routine(): string {
    return `${this.database.routine('time_log_events')}($1, $2, $3)`;
  }

  /** How many events come after a place, at most so many, and when the first of them happened. */
  async backlog(place: FeedPlace, most: number): Promise<Backlog> {
    const following = (columns: string, table: string, condition = 'true') =>
      `(select position, ${columns} from ${table}
         where (position, id) > ($1, $2) and ${condition} order by position, id limit $3)`;
    const [row] = await this.database.query<{ events: number; id: string | null; changed: string | null }>(
      `select least(count(*), $3)::int as events, (array_agg(id order by position, id))[1] as id,
              (array_agg(${millisecondsOf('changed')} order by position, id))[1] as changed
         from (${following('id, corrected_at as changed', this.database.table(TimeLog))}
               union all ${following('id, deleted_at', this.database.table(TimeLogDeletion), 'project_id is not null')}) following`,
      [place.position, place.logId, most],
    );
    const { events, id, changed } = row!;
    if (id === null) return { events, oldest: undefined };
    return { events, oldest: changed === null ? new Date(createdAtOf(id)) : new Date(Number(changed)) };
  }
}

function refuseGone(error: unknown): never {
  throw hasState(error, IS_GONE) ? new DomainError(FEED_GONE, undefined, { cause: error }) : error;
}
