import {
  type TimeLog,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogValues,
  type TimeLogWrites,
  type TransactionHandle,
} from 'time-logs/time-log';

/** The parameters of a method, whatever a later version adds to them. */
type Of<Name extends keyof TimeLogRepository> = Parameters<
  Extract<TimeLogRepository[Name], (...given: never[]) => unknown>
>;
type Rest<Given extends unknown[]> = Given extends [unknown, ...infer Others] ? Others : never;

/** An adapter of this host around another one: it keeps how long each kind of question takes. */
export class TimedTimeLogRepository extends TimeLogRepository {
  /** As the other adapter, which gets each question unchanged. */
  override readonly filtersAttributes: boolean;
  /** By method: how often it was asked, and the milliseconds that this took in all. */
  readonly times = new Map<string, { calls: number; milliseconds: number }>();

  constructor(
    private readonly kept: TimeLogRepository & Required<Pick<TimeLogRepository, 'after' | 'replaced'>>,
  ) {
    super();
    this.filtersAttributes = kept.filtersAttributes;
    kept.onRecorded(() => this.recorded());
  }

  override add(...given: Of<'add'>): Promise<void> {
    return this.timed('add', () => this.kept.add(...given));
  }

  override addOnce(...given: Of<'addOnce'>): Promise<string> {
    return this.timed('addOnce', () => this.kept.addOnce(...given));
  }

  override known(...given: Of<'known'>): Promise<string | undefined> {
    return this.timed('known', () => this.kept.known(...given));
  }

  override addAll(...given: Of<'addAll'>): Promise<void> {
    return this.timed('addAll', () => this.kept.addAll(...given));
  }

  override addAllOnce(...given: Of<'addAllOnce'>): Promise<readonly string[]> {
    return this.timed('addAllOnce', () => this.kept.addAllOnce(...given));
  }

  override knownAll(...given: Of<'knownAll'>): Promise<readonly string[] | undefined> {
    return this.timed('knownAll', () => this.kept.knownAll(...given));
  }

  override replaced(...given: Of<'replaced'>): Promise<readonly TimeLogValues[] | undefined> {
    return this.timed('replaced', () => this.kept.replaced(...given));
  }

  override correct(...given: Of<'correct'>): Promise<TimeLog | undefined> {
    return this.timed('correct', () => this.kept.correct(...given));
  }

  override delete(...given: Of<'delete'>): Promise<TimeLog | undefined> {
    return this.timed('delete', () => this.kept.delete(...given));
  }

  override get(...given: Of<'get'>): Promise<TimeLog | undefined> {
    return this.timed('get', () => this.kept.get(...given));
  }

  override find(...given: Of<'find'>): Promise<TimeLogPage> {
    return this.timed('find', () => this.kept.find(...given));
  }

  override after(...given: Of<'after'>): Promise<readonly TimeLog[]> {
    return this.timed('after', () => this.kept.after(...given));
  }

  override transact<T>(
    work: (transaction: TransactionHandle) => Promise<T>,
    ...turn: Rest<Of<'transact'>>
  ): Promise<T> {
    return this.timed('transact', () => this.kept.transact(work, ...turn));
  }

  override within(transaction: TransactionHandle): TimeLogWrites {
    return this.kept.within(transaction);
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
