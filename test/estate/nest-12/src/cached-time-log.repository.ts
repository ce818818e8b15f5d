import {
  type Access,
  ALL_PROJECTS,
  type Backlog,
  type FeedPlace,
  type Grouping,
  type IdempotencyKey,
  type Page,
  type TimeLog,
  type TimeLogEvent,
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
  type Totals,
  type Transaction,
} from 'time-logs/time-log';

/** An adapter of this host: it remembers logs that were asked for by their ids, in front of any other repository. */
export class CachedTimeLogRepository extends TimeLogRepository {
  override readonly obeysAccess = true;
  private readonly logs = new Map<string, TimeLog>();

  constructor(private readonly kept: TimeLogRepository) {
    super();
    kept.onRecorded(() => this.recorded());
  }

  override async get(id: string, access: Access): Promise<TimeLog | undefined> {
    const log = this.logs.get(id) ?? (await this.kept.get(id, ALL_PROJECTS));
    if (log === undefined) return undefined;
    this.logs.set(id, log);
    return access === ALL_PROJECTS || access.includes(log.projectId) ? log : undefined;
  }

  override async correct(log: TimeLog, access: Access): Promise<boolean> {
    return this.forgetting(log.id, () => this.kept.correct(log, access));
  }

  override async delete(id: string, access: Access): Promise<TimeLog | undefined> {
    return this.forgetting(id, () => this.kept.delete(id, access));
  }

  override add(log: TimeLog): Promise<void> {
    return this.kept.add(log);
  }

  override addOnce(log: TimeLog, key: IdempotencyKey): Promise<string> {
    return this.kept.addOnce(log, key);
  }

  override known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    return this.kept.known(log, key);
  }

  override transact<T>(work: (transaction: Transaction) => Promise<T>, turn?: string): Promise<T> {
    return this.kept.transact(work, turn).finally(() => this.logs.clear());
  }

  override within(transaction: Transaction): TimeLogWrites {
    this.logs.clear();
    return this.kept.within(transaction);
  }

  override find(filter: TimeLogFilter, page: Page, access: Access): Promise<TimeLogPage> {
    return this.kept.find(filter, page, access);
  }

  override totals(
    filter: TimeLogFilter,
    grouping: Grouping | undefined,
    page: Page,
    access: Access,
  ): Promise<Totals> {
    return this.kept.totals(filter, grouping, page, access);
  }

  override eventsAfter(place: FeedPlace | undefined, limit: number): Promise<readonly TimeLogEvent[]> {
    return this.kept.eventsAfter(place, limit);
  }

  override backlog(place: FeedPlace, most: number): Promise<Backlog> {
    return this.kept.backlog(place, most);
  }

  /** Whoever asks meanwhile may still get the log of before, but nobody after. */
  private async forgetting<T>(id: string, change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } finally {
      this.logs.delete(id);
    }
  }
}
