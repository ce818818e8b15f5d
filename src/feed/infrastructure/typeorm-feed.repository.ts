import { DomainError } from '../../../libs/errors/src/index.js';
import { hasSqlState, PreparedStatement, type TextRow } from '../../database/index.js';
import { createdAtOf, TimeLog } from '../../time-log/domain/time-log.js';
import { TimeLogDeletion } from '../../time-log/infrastructure/time-log-deletion.entity.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { type Backlog, FeedRepository } from '../domain/feed.repository.js';
import { FEED_GONE, type FeedPlace, TimeLogEvent } from '../domain/time-log-event.js';

/** SQLSTATE: what a reader must know about logs before this place is forgotten (feed.sql of the schema). */
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

/** Reads the feed of a TypeOrmTimeLogRepository. Throws DomainError GONE if deletions after a place are forgotten. */
export class TypeOrmFeedRepository extends FeedRepository {
  private events: PreparedStatement | undefined;

  constructor(private readonly logs: Pick<TypeOrmTimeLogRepository, 'database' | 'rows'>) {
    super();
  }

  override async eventsAfter(place: FeedPlace | undefined, limit: number): Promise<TimeLogEvent[]> {
    // One statement: the rows, and how far they are final, must be of one snapshot.
    this.events ??= new PreparedStatement(
      `select ${this.logs.rows.selection('log')}, ${BESIDE_LOG.map((column, index) => `${column} as beside_${index}`).join()} from ${this.routine}`,
    );
    const rows = await this.logs.database
      .query(this.events, [place?.position, place?.logId, limit])
      .catch(refuseGone);
    return rows.map((row) => this.eventOf(row));
  }

  override async weighEvents(place: FeedPlace | undefined, limit: number): Promise<number> {
    const [row] = await this.logs.database
      .query<{ bytes: string | null }>(
        `select sum(${this.logs.rows.weight('log')}) as bytes from ${this.routine}`,
        [place?.position, place?.logId, limit],
      )
      .catch(refuseGone);
    return Number(row!.bytes);
  }

  private eventOf(row: TextRow): TimeLogEvent {
    const [deletedId, projectId, milliseconds, position] = row.slice(-BESIDE_LOG.length);
    const log = deletedId == null ? this.logs.rows.log(row) : { id: deletedId, projectId: projectId! };
    return new TimeLogEvent(
      position!,
      log,
      milliseconds == null ? undefined : new Date(Number(milliseconds)),
    );
  }

  private get routine(): string {
    return `${this.logs.database.routine('time_log_events')}($1, $2, $3)`;
  }

  override async backlog(place: FeedPlace, most: number): Promise<Backlog> {
    const following = (columns: string, table: string, condition = 'true') =>
      `(select position, ${columns} from ${table}
         where (position, id) > ($1, $2) and ${condition} order by position, id limit $3)`;
    const [row] = await this.logs.database.query<{
      events: number;
      id: string | null;
      changed: string | null;
    }>(
      `select least(count(*), $3)::int as events, (array_agg(id order by position, id))[1] as id,
              (array_agg(${millisecondsOf('changed')} order by position, id))[1] as changed
         from (${following('id, corrected_at as changed', this.logs.database.table(TimeLog))}
               union all ${following('id, deleted_at', this.logs.database.table(TimeLogDeletion), 'project_id is not null')}) following`,
      [place.position, place.logId, most],
    );
    const { events, id, changed } = row!;
    if (id === null) return { events, oldest: undefined };
    return { events, oldest: changed === null ? new Date(createdAtOf(id)) : new Date(Number(changed)) };
  }
}

function refuseGone(error: unknown): never {
  throw hasSqlState(error, IS_GONE) ? new DomainError(FEED_GONE, undefined, { cause: error }) : error;
}
