import { DomainError } from '../../../libs/errors/src/index.js';
import { hasSqlState, PreparedStatement, type TextRow } from '../../database/index.js';
import { createdAtOf, TimeLog } from '../../time-log/domain/time-log.js';
import { TimeLogDeletion } from '../../time-log/infrastructure/time-log-deletion.entity.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { type Backlog, FeedRepository } from '../domain/feed.repository.js';
import { FEED_GONE, type FeedPlace, TimeLogEvent } from '../domain/time-log-event.js';

/** The SQLSTATE for a place after which records of deletions were removed (feed.sql of the schema). */
const GONE_STATE = /^TL410$/;

/** Returns SQL for a time in milliseconds, which does not depend on the date style of the server. */
const millisecondsOf = (time: string) => `(1000 * extract(epoch from ${time}))::bigint`;
/** The columns that follow those of the log. */
const EVENT_COLUMNS = [
  '(deletion).id',
  '(deletion).project_id',
  millisecondsOf('coalesce((log).corrected_at, (deletion).deleted_at)'),
  'position',
];

/** Reads the feed of a TypeOrmTimeLogRepository. */
export class TypeOrmFeedRepository extends FeedRepository {
  private events: PreparedStatement | undefined;

  constructor(private readonly logs: Pick<TypeOrmTimeLogRepository, 'database' | 'rows'>) {
    super();
  }

  override async eventsAfter(place: FeedPlace | undefined, limit: number): Promise<TimeLogEvent[]> {
    // The rows and the horizon must come from one snapshot, so this is one statement.
    this.events ??= new PreparedStatement(
      `select ${this.logs.rows.selection('log')}, ${EVENT_COLUMNS.map((column, index) => `${column} as event_${index}`).join()} from ${this.routine}`,
    );
    const rows = await this.logs.database
      .query(this.events, [place?.position, place?.logId, limit])
      .catch(throwGone);
    return rows.map((row) => this.eventOf(row));
  }

  override async weighEvents(place: FeedPlace | undefined, limit: number): Promise<number> {
    const [row] = await this.logs.database
      .query<{ bytes: string | null }>(
        `select sum(${this.logs.rows.textBytes('log')}) as bytes from ${this.routine}`,
        [place?.position, place?.logId, limit],
      )
      .catch(throwGone);
    return Number(row!.bytes);
  }

  private eventOf(row: TextRow): TimeLogEvent {
    const [deletedId, projectId, milliseconds, position] = row.slice(-EVENT_COLUMNS.length);
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

  override async backlog(place: FeedPlace, limit: number): Promise<Backlog> {
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
      [place.position, place.logId, limit],
    );
    const { events, id, changed } = row!;
    if (id === null) return { events, oldest: undefined };
    return { events, oldest: changed === null ? new Date(createdAtOf(id)) : new Date(Number(changed)) };
  }
}

function throwGone(error: unknown): never {
  throw hasSqlState(error, GONE_STATE) ? new DomainError(FEED_GONE, undefined, { cause: error }) : error;
}
