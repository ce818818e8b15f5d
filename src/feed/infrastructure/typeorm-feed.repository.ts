import { DomainError } from '../../../libs/errors/src/index.js';
import { hasSqlState, PreparedStatement, type TextRow } from '../../database/index.js';
import { createdAtOf, TimeLog } from '../../time-log/domain/time-log.js';
import { TimeLogDeletion } from '../../time-log/infrastructure/time-log.entities.js';
import type { TypeOrmTimeLogRepository } from '../../time-log/infrastructure/typeorm-time-log.repository.js';
import { type Backlog, type FeedPage, FeedRepository } from '../domain/feed.repository.js';
import { FEED_GONE, type FeedCursor, feedCursorFrom, TimeLogEvent } from '../domain/time-log-event.js';
import { openCursor, sealCursor, type StoredCursor } from './cursor-token.js';

/** The SQLSTATE for a cursor after which records of deletions were removed. */
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
/** The columns between those, for events of some projects. */
const CURSOR_COLUMNS = ['mark', 'cursor_position', 'cursor_id', 'is_end::text'];
/** The maximum number of events of all projects that a page of some projects looks at, which takes 20 ms. */
const MAX_LOOKED_EVENTS = 10_000;

/** Reads the feed of a TypeOrmTimeLogRepository. */
export class TypeOrmFeedRepository extends FeedRepository {
  private events: PreparedStatement | undefined;
  private projectEvents: PreparedStatement | undefined;

  constructor(
    private readonly logs: Pick<TypeOrmTimeLogRepository, 'database' | 'rows'>,
    private readonly maxLookedEvents = MAX_LOOKED_EVENTS,
  ) {
    super();
  }

  override async eventsAfter(cursor: FeedCursor | undefined, limit: number): Promise<TimeLogEvent[]> {
    // The rows and the horizon must come from one snapshot, so this is one statement.
    this.events ??= this.statement(EVENT_COLUMNS, 'time_log_events', '$1, $2, $3');
    const rows = await this.logs.database
      .query(this.events, [cursor?.position, cursor?.logId, limit])
      .catch(throwGone);
    return rows.map((row) => this.eventOf(row));
  }

  override async eventsOfProjects(
    projectIds: readonly string[],
    cursor: string | undefined,
    limit: number,
  ): Promise<FeedPage> {
    this.projectEvents ??= this.statement(
      [...CURSOR_COLUMNS, ...EVENT_COLUMNS],
      'time_log_project_events',
      '$1, $2, $3, $4, $5, $6',
    );
    const start = cursor === undefined ? undefined : await this.storedCursor(cursor);
    const values = [projectIds, start?.mark, start?.position, start?.logId, limit, this.maxLookedEvents];
    const rows = await this.logs.database.query(this.projectEvents, values).catch(throwGone);
    // There are no rows if the cursor is ahead of what this server can return.
    if (rows.length === 0) return { events: [], next: cursor, isLast: true };
    const events = rows.filter((row) => row.at(-1) !== null).map((row) => this.eventOf(row));
    const [mark, position, logId, isEnd] = rows
      .at(-1)!
      .slice(-CURSOR_COLUMNS.length - EVENT_COLUMNS.length, -EVENT_COLUMNS.length) as string[];
    const isLast = isEnd === 'true';
    const end = `${position}-${logId}`;
    // Right after the mark, a cursor must say whether its reader has started before the mark. A client
    // takes a short page for the last one if it leads no further than its last event.
    const isPublic =
      BigInt(position!) !== BigInt(mark!) + 1n &&
      (isLast || (events.length === limit && events.at(-1)?.id === end));
    const next = isPublic
      ? end
      : sealCursor(await this.cursorKey(), { mark: mark!, position: position!, logId: logId! });
    return { events, next, isLast };
  }

  private async storedCursor(cursor: string): Promise<FeedCursor & Partial<StoredCursor>> {
    const stored = feedCursorFrom(cursor) ?? openCursor(await this.cursorKey(), cursor);
    // A restored database has another key.
    if (stored === undefined) throw new DomainError(FEED_GONE);
    return stored;
  }

  private async cursorKey(): Promise<string> {
    const routine = this.logs.database.routine('time_log_cursor_key');
    const [row] = await this.logs.database.query<{ key: string | null }>(`select ${routine}() as key`);
    if (row!.key !== null) return row!.key;
    throw new Error(
      `the comment of the function ${routine} is missing: comment on it with a long random text`,
    );
  }

  private statement(columns: readonly string[], routine: string, parameters: string): PreparedStatement {
    const names = columns.map((column, index) => `${column} as event_${index}`).join();
    return new PreparedStatement(
      `select ${this.logs.rows.selection('log')}, ${names} from ${this.logs.database.routine(routine)}(${parameters})`,
    );
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

  override async backlog(cursor: FeedCursor, limit: number): Promise<Backlog> {
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
      [cursor.position, cursor.logId, limit],
    );
    const { events, id, changed } = row!;
    if (id === null) return { events, oldest: undefined };
    return { events, oldest: changed === null ? new Date(createdAtOf(id)) : new Date(Number(changed)) };
  }
}

function throwGone(error: unknown): never {
  throw hasSqlState(error, GONE_STATE) ? new DomainError(FEED_GONE, undefined, { cause: error }) : error;
}
