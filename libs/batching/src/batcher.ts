import { DomainError } from '../../errors/src/index.js';

/** Bounds of a Batcher. */
export interface BatcherLimits {
  /** The most items in one run. */
  readonly batch: number;
  /** The most items that wait for a run. */
  readonly queue: number;
  /** The most milliseconds that an item waits. By then its caller has given up. */
  readonly wait: number;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly since: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Run {
  readonly size: number;
  /** Resolves at the end of the run with what hands out its outcomes. */
  readonly handOut: Promise<() => void>;
}

/**
 * Takes items one by one and runs them together. Only one run is under way at a time. An item that arrives while no run
 * is under way runs at once. An item that arrives during a run goes into the next run or the one after it, together
 * with others that wait; it waits longer only where runs have reached their limit.
 *
 * A run begins before the outcomes of the last one are handed out, so that the database works while the callers do. A
 * caller often comes again at once. So a run takes half, rounded up, of the items of the last run plus those that wait.
 * Where all callers come again, all runs are of one size. Otherwise large and small runs would alternate: the callers
 * of the small run wait for the large one, and the database waits for the callers of the large one.
 */
export class Batcher<Item, Outcome> {
  /** Called when a run begins, with the milliseconds that each of its items has waited. */
  onRun: ((waits: readonly number[]) => void) | undefined;
  private queue: Waiting<Item, Outcome>[] = [];
  private isRunning = false;

  /** `run` gets 1 to `limits.batch` items. It resolves with an outcome or an error for each, in their order. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>,
    private readonly limits: BatcherLimits,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Items that wait for a run. */
  get length(): number {
    return this.queue.length;
  }

  /**
   * Resolves with the item's own outcome, or rejects with its error. Rejects with DomainError SERVICE_UNAVAILABLE where
   * too many items wait, or this one has waited too long.
   */
  add(item: Item): Promise<Outcome> {
    if (this.queue.length >= this.limits.queue) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      this.queue.push({ item, since: this.now(), resolve, reject });
      if (!this.isRunning) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    let run = this.start(0);
    while (run !== undefined) {
      const handOut = await run.handOut;
      run = this.start(run.size);
      // A turn later: the next run needs some promises before it is sent. The callers would come in between.
      setImmediate(handOut);
    }
    this.isRunning = false;
  }

  /** Begins the next run; undefined where nothing waits. `ended`: how many items the last run had. */
  private start(ended: number): Run | undefined {
    this.refuseLate();
    const share = Math.ceil((ended + this.queue.length) / 2);
    const batch = this.queue.splice(0, Math.min(share, this.limits.batch));
    return batch.length === 0 ? undefined : { size: batch.length, handOut: this.runTogether(batch) };
  }

  private refuseLate(): void {
    const oldest = this.now() - this.limits.wait;
    const inTime = this.queue.findIndex(({ since }) => since >= oldest);
    const late = this.queue.splice(0, inTime === -1 ? this.queue.length : inTime);
    for (const { reject } of late) reject(unavailable());
  }

  private async runTogether(batch: readonly Waiting<Item, Outcome>[]): Promise<() => void> {
    const now = this.now();
    try {
      this.onRun?.(batch.map(({ since }) => now - since));
      const outcomes = await this.run(batch.map(({ item }) => item));
      if (outcomes.length !== batch.length) throw new Error('a run must give an outcome for each item');
      return () => {
        batch.forEach(({ resolve, reject }, index) => {
          const outcome = outcomes[index] as Outcome | Error;
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        });
      };
    } catch (error) {
      return () => {
        for (const { reject } of batch) reject(error);
      };
    }
  }
}

/** What a Batcher shows to somebody who watches it. */
export type WatchedBatcher = Pick<Batcher<never, unknown>, 'length' | 'onRun'>;

/** The error for what there is no room or no time for. */
export function unavailable(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE');
}
