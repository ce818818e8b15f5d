import { AsyncLocalStorage } from 'node:async_hooks';
import { DomainError } from '../../errors/src/index.js';
import type { Observer } from '../../measures/src/index.js';

/** The limits of a Batcher. */
export interface BatcherLimits {
  /** The maximum number of items in a run. */
  readonly batch: number;
  /** The maximum number of items that wait for a run. */
  readonly queue: number;
  /** The maximum time that an item waits. After it the caller has given up. */
  readonly waitMs: number;
  /** The message of the error if the queue is full. */
  readonly fullMessage?: string;
}

/** The share of a run that is reserved for items with a time of their own. */
const LOW_PRIORITY_SHARE = 0.25;

interface WaitingItem<Item, Outcome> {
  readonly item: Item;
  /** The time of arrival, and when the caller gives up, in milliseconds. */
  readonly since: number;
  readonly until: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Run {
  readonly size: number;
  /** Resolves at the end of the run with a function that delivers the outcomes. */
  readonly deliver: Promise<() => void>;
}

/**
 * Collects items and runs them together, one run at a time. If no run is in progress, an item runs
 * at once. Otherwise it joins one of the next two runs; it waits longer only if the runs are full.
 *
 * A run begins before the outcomes of the previous run are delivered, so that the database and the
 * callers work at the same time. Callers often send their next item at once. Therefore a run takes
 * only half of the items of the previous run and of the waiting items together, rounded up. If all
 * callers continue, all runs have the same size. Otherwise large and small runs would alternate:
 * the callers of the small run wait for the large run, and the database waits for its callers.
 */
export class Batcher<Item, Outcome> {
  /** Observe the size of each run when it begins, and the seconds that each item has waited. */
  observers: { readonly size: Observer; readonly wait: Observer } | undefined;
  private queue: WaitingItem<Item, Outcome>[] = [];
  /** Items with a time of their own. They fill the runs, and have a share of each, so that they run under any load. */
  private lowPriority: WaitingItem<Item, Outcome>[] = [];
  private isRunning = false;

  /** `run` takes 1 to `limits.batch` items and returns an outcome or error for each, in order. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>,
    private readonly limits: BatcherLimits,
    /** Returns whether a single item may have caused the error of a whole run. */
    private readonly isItemError: (error: unknown) => boolean = () => false,
    /** Returns the time in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The number of items that wait for a run. */
  get length(): number {
    return this.queue.length + this.lowPriority.length;
  }

  /**
   * Resolves with the item's own outcome, or rejects with its error. Rejects with DomainError
   * SERVICE_UNAVAILABLE if too many items wait, or if this one has waited too long. With a time of
   * its own an item waits even if too many do.
   */
  add(item: Item, waitMs?: number): Promise<Outcome> {
    const { limits } = this;
    if (waitMs === undefined && this.queue.length >= limits.queue)
      return Promise.reject(unavailableError(limits.fullMessage));
    return new Promise((resolve, reject) => {
      const since = this.now();
      const queue = waitMs === undefined ? this.queue : this.lowPriority;
      queue.push({ item, since, until: since + (waitMs ?? limits.waitMs), resolve, reject });
      if (!this.isRunning) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    let run = this.start(0);
    while (run !== undefined) {
      const { size, deliver: delivery } = run;
      const deliver = await delivery;
      // Not in the context of the item that started the first run.
      run = inBackground(() => this.start(size));
      // Not at once: the next run is sent only after some promises have settled.
      setImmediate(deliver);
    }
    this.isRunning = false;
  }

  /** Begins the next run. Returns undefined if no items wait. */
  private start(previousSize: number): Run | undefined {
    const now = this.now();
    this.refuseLate(now);
    const size = Math.min(Math.ceil((previousSize + this.length) / 2), this.limits.batch);
    const reserved = Math.min(this.lowPriority.length, Math.floor(size * LOW_PRIORITY_SHARE));
    const batch = this.queue.splice(0, size - reserved);
    if (batch.length < size) batch.push(...this.lowPriority.splice(0, size - batch.length));
    if (batch.length === 0) return undefined;
    this.observers?.size.observe(batch.length);
    for (const { since } of batch) this.observers?.wait.observe((now - since) / 1_000);
    return { size: batch.length, deliver: this.runTogether(batch) };
  }

  private refuseLate(now: number): void {
    const inTime = this.queue.findIndex(({ until }) => until >= now);
    const late = this.queue.splice(0, inTime === -1 ? this.queue.length : inTime);
    if (this.lowPriority.some(({ until }) => until < now)) {
      late.push(...this.lowPriority.filter(({ until }) => until < now));
      this.lowPriority = this.lowPriority.filter(({ until }) => until >= now);
    }
    for (const { reject } of late) reject(unavailableError());
  }

  /** Runs each half by itself after an error of one item, so that a bad item fails alone. */
  private async runTogether(batch: readonly WaitingItem<Item, Outcome>[]): Promise<() => void> {
    try {
      const outcomes = await this.run(batch.map(({ item }) => item));
      if (outcomes.length !== batch.length) throw new Error('a run must return an outcome for each item');
      return () => {
        batch.forEach(({ resolve, reject }, index) => {
          const outcome = outcomes[index] as Outcome | Error;
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        });
      };
    } catch (error) {
      if (batch.length === 1 || !this.isItemError(error))
        return () => batch.forEach(({ reject }) => reject(error));
      const middle = batch.length >> 1;
      const deliverFirst = await this.runTogether(batch.slice(0, middle));
      const deliverSecond = await this.runTogether(batch.slice(middle));
      return () => {
        deliverFirst();
        deliverSecond();
      };
    }
  }
}

/** The members of a queue that metrics need. */
export type MeasurableBatcher = Pick<Batcher<never, unknown>, 'length' | 'observers'>;

export function unavailableError(message?: string): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', message);
}

/**
 * Runs work in the asynchronous context in which this file was loaded, not in that of the request that starts it.
 * Otherwise tracing would add the statements of the work to the trace of the request.
 */
export const inBackground: <Result>(work: () => Result) => Result = AsyncLocalStorage.snapshot();
