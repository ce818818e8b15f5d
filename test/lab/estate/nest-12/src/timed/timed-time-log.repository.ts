import {
  type ProjectAccess,
  type IdempotencyKey,
  type PageRequest,
  type TimeLog,
  type TimeLogFilter,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogWrites,
  type TransactionHandle,
} from 'time-logs/time-log';

/** An adapter of this host around another one: it keeps how long each kind of question takes. */
export class TimedTimeLogRepository extends TimeLogRepository {
  /** By method: how often it was asked, and the milliseconds that this took in all. */
  readonly times = new Map<string, { calls: number; milliseconds: number }>();

  constructor(private readonly kept: TimeLogRepository) {
    super();
    kept.onRecorded(() => this.recorded());
  }

  override add(log: TimeLog): Promise<void> {
    return this.timed('add', () => this.kept.add(log));
  }

  override addOnce(log: TimeLog, key: IdempotencyKey): Promise<string> {
    return this.timed('addOnce', () => this.kept.addOnce(log, key));
  }

  override known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    return this.timed('known', () => this.kept.known(log, key));
  }

  override addAll(...batch: Parameters<TimeLogRepository['addAll']>): Promise<void> {
    return this.timed('addAll', () => this.kept.addAll(...batch));
  }

  override addAllOnce(...batch: Parameters<TimeLogRepository['addAllOnce']>): Promise<readonly string[]> {
    return this.timed('addAllOnce', () => this.kept.addAllOnce(...batch));
  }

  override knownAll(logs: readonly TimeLog[], key: IdempotencyKey): Promise<readonly string[] | undefined> {
    return this.timed('knownAll', () => this.kept.knownAll(logs, key));
  }

  override correct(...change: Parameters<TimeLogRepository['correct']>): Promise<TimeLog | undefined> {
    return this.timed('correct', () => this.kept.correct(...change));
  }

  override delete(...change: Parameters<TimeLogRepository['delete']>): Promise<TimeLog | undefined> {
    return this.timed('delete', () => this.kept.delete(...change));
  }

  override transact<T>(work: (transaction: TransactionHandle) => Promise<T>, turn?: string): Promise<T> {
    return this.timed('transact', () => this.kept.transact(work, turn));
  }

  override within(transaction: TransactionHandle): TimeLogWrites {
    return this.kept.within(transaction);
  }

  override get(id: string, access: ProjectAccess): Promise<TimeLog | undefined> {
    return this.timed('get', () => this.kept.get(id, access));
  }

  override find(filter: TimeLogFilter, page: PageRequest, access: ProjectAccess): Promise<TimeLogPage> {
    return this.timed('find', () => this.kept.find(filter, page, access));
  }

  private async timed<T>(method: string, ask: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await ask();
    } finally {
      const { calls, milliseconds } = this.times.get(method) ?? { calls: 0, milliseconds: 0 };
      this.times.set(method, {
        calls: calls + 1,
        milliseconds: milliseconds + performance.now() - begun,
      });
    }
  }
}
