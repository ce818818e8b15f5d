import { isDeepStrictEqual } from 'node:util';
import { DomainError } from '../../../errors/src/index.js';
import {
  CSV_COLUMNS,
  type ExportedLogs,
  type ExportRepository,
  type ExportRequest,
} from '../../../../src/export/index.js';
import {
  type Backlog,
  type DeletedTimeLog,
  type FeedPage,
  type FeedPlace,
  type FeedRepository,
  parseEventId,
  TimeLogEvent,
} from '../../../../src/feed/index.js';
import type { Grouping, Totals, TotalsRepository } from '../../../../src/totals/index.js';
import {
  ALL_PROJECTS,
  attributesIn,
  entityTagOf,
  fingerprintOf,
  fingerprintOfAll,
  haveValues,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  isChanged,
  itemsOf,
  logResponse,
  mapKeyOf,
  normalizedValues,
  type PageRequest,
  type TimeLogAccess,
  projectsIn,
  TIME_LOG_CHANGED,
  TimeLog,
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TransactionHandle,
} from '../../../../src/time-log/index.js';
import { descending, totalsOf } from './totals-of.js';

/**
 * Keeps time logs in memory, for tests. Keys do not expire:
 * `overrideProvider(TimeLogRepository).useClass(InMemoryTimeLogRepository)`.
 */
export class InMemoryTimeLogRepository
  extends TimeLogRepository
  implements TotalsRepository, FeedRepository, ExportRepository
{
  private readonly logs = new Map<string, TimeLog>();
  private readonly keys = new Map<
    string,
    { readonly fingerprint: string; readonly logs: readonly TimeLog[] }
  >();
  private readonly events = new Map<string, TimeLogEvent>();
  /** The projects that logs have left, as deletions. */
  private readonly departures: TimeLogEvent[] = [];
  private position = 0;

  override async add(log: TimeLog): Promise<void> {
    this.store(log);
  }

  override async addOnce(log: TimeLog, key: IdempotencyKey): Promise<string> {
    return this.storeOnce([log], key, fingerprintOf(log))[0]!;
  }

  override async known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    return this.idsOf(key, fingerprintOf(log))?.[0];
  }

  override async addAll(logs: readonly TimeLog[]): Promise<void> {
    this.store(...logs);
  }

  override async addAllOnce(logs: readonly TimeLog[], key: IdempotencyKey): Promise<readonly string[]> {
    return this.storeOnce(logs, key, fingerprintOfAll(logs));
  }

  override async knownAll(
    logs: readonly TimeLog[],
    key: IdempotencyKey,
  ): Promise<readonly string[] | undefined> {
    return this.idsOf(key, fingerprintOfAll(logs));
  }

  override async replaced(key: IdempotencyKey): Promise<readonly TimeLog[] | undefined> {
    const logs = this.keys.get(mapKeyOf(key))?.logs;
    return logs?.some(isChanged) ? logs : undefined;
  }

  override async correct(
    log: TimeLog,
    access: TimeLogAccess,
    _caller?: string,
    expected?: TimeLog,
  ): Promise<TimeLog | undefined> {
    const before = this.visible(log.id, access, expected);
    if (before === undefined) return undefined;
    const attributes = expected ? log.attributes : (log.attributes ?? before.attributes);
    const corrected = TimeLog.record({ ...normalizedValues(log), attributes }, log.id);
    this.logs.set(log.id, corrected);
    if (isDeepStrictEqual(before, corrected)) this.recorded();
    else this.publish(corrected, new Date());
    if (before.projectId !== corrected.projectId)
      this.departures.push(
        new TimeLogEvent(String(this.position), { id: log.id, projectId: before.projectId }, new Date()),
      );
    return corrected;
  }

  override async delete(
    id: string,
    access: TimeLogAccess,
    _caller?: string,
    expected?: TimeLog,
  ): Promise<TimeLog | undefined> {
    const before = this.visible(id, access, expected);
    if (before === undefined) return undefined;
    this.logs.delete(id);
    this.publish({ id, projectId: before.projectId }, new Date());
    return before;
  }

  /** Runs the work without a transaction. */
  override transact<T>(work: (transaction: TransactionHandle) => Promise<T>): Promise<T> {
    return work({});
  }

  /** Returns this repository without a transaction: a rollback undoes nothing. */
  override within(): this {
    return this;
  }

  override async get(id: string, access: TimeLogAccess): Promise<TimeLog | undefined> {
    return this.visible(id, access);
  }

  override async find(
    filter: TimeLogFilter,
    { limit, offset }: PageRequest,
    access: TimeLogAccess,
  ): Promise<TimeLogPage> {
    const found = this.matching(filter, access).sort(newestFirst);
    const start = Number(offset);
    return { logs: found.slice(start, start + limit), total: found.length };
  }

  override async items(
    ...query: Parameters<TimeLogRepository['find']>
  ): Promise<Awaited<ReturnType<TimeLogRepository['items']>>> {
    const { logs, total } = await this.find(...(query as Parameters<InMemoryTimeLogRepository['find']>));
    return { items: itemsOf(logs), total };
  }

  override async after(
    filter: TimeLogFilter,
    place: Pick<TimeLog, 'date' | 'id'> | undefined,
    limit: number,
    access: TimeLogAccess,
  ): Promise<readonly TimeLog[]> {
    const found = this.matching(filter, access).sort(newestFirst);
    return found.filter((log) => place === undefined || newestFirst(place, log) < 0).slice(0, limit);
  }

  async totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: PageRequest,
    access: TimeLogAccess,
  ): Promise<Totals> {
    return totalsOf(this.matching(filter, access), filter.period, grouping, page);
  }

  async eventsAfter(place: FeedPlace | undefined, limit: number): Promise<TimeLogEvent[]> {
    const start = Number(place?.position ?? 0);
    return [...this.events.values()].filter(({ position }) => Number(position) > start).slice(0, limit);
  }

  async eventsOfProjects(
    projectIds: readonly string[],
    place: string | undefined,
    limit: number,
  ): Promise<FeedPage> {
    const start = place === undefined ? 0 : Number(parseEventId(place).position);
    const found = [...this.events.values(), ...this.departures]
      .filter(({ position, log }) => Number(position) > start && projectIds.includes(log.projectId))
      .filter(
        ({ type, log }) => type !== 'deleted' || !projectIds.includes(this.logs.get(log.id)?.projectId ?? ''),
      )
      .sort((a, b) => Number(a.position) - Number(b.position));
    const events = found.slice(0, limit);
    const isLast = events.length < limit;
    const end = `${Math.max(start, this.position)}-ffffffff-ffff-ffff-ffff-ffffffffffff`;
    return { events, next: isLast ? end : events.at(-1)!.id, isLast };
  }

  async backlog(place: FeedPlace, limit: number): Promise<Backlog> {
    const events = await this.eventsAfter(place, limit);
    return { events: events.length, oldest: events[0]?.time };
  }

  async export<T>(
    { filter, format, access, signal }: ExportRequest,
    use: (logs: ExportedLogs) => Promise<T>,
  ): Promise<T> {
    const logs = this.matching(filter, access).sort((a, b) => newestFirst(b, a));
    const { period, attributes = attributesIn(access) } = filter;
    const isPartial = (period.from ?? period.to ?? attributes) !== undefined;
    return use({
      total: logs.length,
      lastEventId: isPartial ? undefined : `${this.position}-ffffffff-ffff-ffff-ffff-ffffffffffff`,
      content: contentOf(format === 'csv' ? csvOf(logs) : logs.map(ndjsonOf), signal),
    });
  }

  private idsOf(key: IdempotencyKey, fingerprint: string): readonly string[] | undefined {
    const known = this.keys.get(mapKeyOf(key));
    if (known && known.fingerprint !== fingerprint) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
    return known?.logs.map(({ id }) => id);
  }

  private storeOnce(logs: readonly TimeLog[], key: IdempotencyKey, fingerprint: string): readonly string[] {
    const known = this.idsOf(key, fingerprint);
    if (known !== undefined) return known;
    this.store(...logs);
    this.keys.set(mapKeyOf(key), { fingerprint, logs });
    return logs.map(({ id }) => id);
  }

  private visible(id: string, access: TimeLogAccess, expected?: TimeLog): TimeLog | undefined {
    const log = this.logs.get(id);
    if (log === undefined || !allows(access, log)) return undefined;
    if (expected && entityTagOf(expected) !== entityTagOf(log)) throw new DomainError(TIME_LOG_CHANGED);
    return log;
  }

  private matching({ projectIds, period, attributes }: TimeLogFilter, access: TimeLogAccess): TimeLog[] {
    return [...this.logs.values()]
      .filter((log) => allows(access, log) && haveValues(log.attributes, attributes))
      .filter((log) => projectIds?.includes(log.projectId) ?? true)
      .filter(({ date }) => (period.from ?? date) <= date && date <= (period.to ?? date));
  }

  private store(...logs: readonly TimeLog[]): void {
    const known = logs.find(({ id }) => this.logs.has(id));
    if (known) throw new Error(`the log ${known.id} already exists`);
    for (const log of logs) {
      this.logs.set(log.id, log);
      this.publish(log);
    }
  }

  /** Appends the event of a log, and removes its previous one. */
  private publish(log: TimeLog | DeletedTimeLog, changedAt?: Date): void {
    this.events.delete(log.id);
    this.events.set(log.id, new TimeLogEvent(String(++this.position), log, changedAt));
    this.recorded();
  }
}

function newestFirst(a: Pick<TimeLog, 'date' | 'id'>, b: Pick<TimeLog, 'date' | 'id'>): number {
  return descending(a.date, b.date) || descending(a.id, b.id);
}

async function* contentOf(lines: readonly string[], signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const line of lines) {
    signal?.throwIfAborted();
    yield Buffer.from(`${line}\n`);
  }
}

function ndjsonOf(log: TimeLog): string {
  return JSON.stringify(logResponse(log).data);
}

function csvOf(logs: readonly TimeLog[]): readonly string[] {
  const haveAttributes = logs.some(({ attributes }) => attributes !== undefined);
  const columns = haveAttributes ? [...CSV_COLUMNS, 'attributes'] : CSV_COLUMNS;
  const rows = logs.map((log) => {
    const body = logResponse(log).data as unknown as Record<string, unknown>;
    return columns.map((name) => csvFieldOf(body[name])).join();
  });
  return [columns.join(), ...rows];
}

function csvFieldOf(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return value === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function allows(access: TimeLogAccess, { projectId, attributes }: TimeLog): boolean {
  const projects = projectsIn(access);
  const isOfProject = projects === ALL_PROJECTS || projects.includes(projectId);
  return isOfProject && haveValues(attributes, attributesIn(access));
}
