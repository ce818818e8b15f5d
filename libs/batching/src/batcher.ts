import { DomainError, ERROR_KINDS } from '../../errors/src/index.js';

/** Bounds of a Batcher. */
export interface BatcherLimits {
  /** The most items in one run. */
  readonly batch: number;
  /** The most items that wait for the next run. */
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

/**
 * Takes items one by one and runs them together. Only one run is under way at a time. An item that arrives during a run
 * goes into the next one, with all others that wait. Any other item runs at once.
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

  /** Items that wait for the next run. */
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
    while (this.queue.length > 0) await this.runSome(this.queue.splice(0, this.limits.batch));
    this.isRunning = false;
  }

  private async runSome(waiting: readonly Waiting<Item, Outcome>[]): Promise<void> {
    const now = this.now();
    const oldest = now - this.limits.wait;
    const batch = waiting.filter(({ since, reject }) => {
      if (since < oldest) reject(unavailable());
      return since >= oldest;
    });
    if (batch.length === 0) return;
    try {
      this.onRun?.(batch.map(({ since }) => now - since));
      const outcomes = await this.run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index] as Outcome | Error;
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** What a Batcher shows to somebody who watches it. */
export type WatchedBatcher = Pick<Batcher<never, unknown>, 'length' | 'onRun'>;

function unavailable(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', ERROR_KINDS.SERVICE_UNAVAILABLE.message);
}
