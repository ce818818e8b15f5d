import { TimeLogRepository, type TimeLogWrites, type TransactionHandle } from 'time-logs/time-log';

type Timed = keyof TimeLogWrites | 'find' | 'after' | 'transact';
type Kept = TimeLogRepository & Required<Pick<TimeLogRepository, 'after' | 'replaced'>>;

/** An adapter of this host around another one: it keeps how long each kind of question takes. */
export class TimedTimeLogRepository extends TimeLogRepository {
  /** As the other adapter, which gets each question unchanged. */
  override readonly filtersAttributes: boolean;
  /** By method: how often it was asked, and the milliseconds that this took in all. */
  readonly times = new Map<string, { calls: number; milliseconds: number }>();

  constructor(private readonly kept: Kept) {
    super();
    this.filtersAttributes = kept.filtersAttributes;
    kept.onRecorded(() => this.recorded());
  }

  override readonly add = this.timed('add');
  override readonly addOnce = this.timed('addOnce');
  override readonly known = this.timed('known');
  override readonly addAll = this.timed('addAll');
  override readonly addAllOnce = this.timed('addAllOnce');
  override readonly knownAll = this.timed('knownAll');
  override readonly replaced = this.timed('replaced');
  override readonly correct = this.timed('correct');
  override readonly delete = this.timed('delete');
  override readonly get = this.timed('get');
  override readonly find = this.timed('find');
  override readonly after = this.timed('after');
  override readonly transact = this.timed('transact');

  override within(transaction: TransactionHandle): TimeLogWrites {
    return this.kept.within(transaction);
  }

  /** Returns a method that passes on all arguments, whatever a later version adds to them. */
  private timed<Name extends Timed>(name: Name): Kept[Name] {
    const ask = async (...given: unknown[]): Promise<unknown> => {
      const begun = performance.now();
      try {
        return await (this.kept[name] as (...all: unknown[]) => unknown).apply(this.kept, given);
      } finally {
        const { calls, milliseconds } = this.times.get(name) ?? { calls: 0, milliseconds: 0 };
        this.times.set(name, {
          calls: calls + 1,
          milliseconds: milliseconds + performance.now() - begun,
        });
      }
    };
    return ask as Kept[Name];
  }
}
