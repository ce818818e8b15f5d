import { type BatcherLimits, unavailableError } from './batcher.js';

interface WaitingTask {
  /** The time of arrival in milliseconds. */
  readonly since: number;
  readonly key: string | undefined;
  readonly begin: () => Promise<void>;
  readonly refuse: () => void;
}

/**
 * Runs a limited number of tasks at a time, one of each waiting caller in rotation. Tasks with the
 * same key run one at a time without delaying others.
 */
export class FairQueue {
  /** The waiting tasks of each caller, oldest first. The next caller to serve comes first. */
  private readonly waiting = new Map<unknown, WaitingTask[]>();
  /** The keys of the running tasks. */
  private readonly keys = new Set<string>();
  private running = 0;

  constructor(
    /** `queue` limits the waiting tasks of all callers together, and `wait` the time of each. */
    private readonly limits: Pick<BatcherLimits, 'queue' | 'wait'>,
    /** Returns the number of tasks at a time. Called at each start: a pool may not be open yet. */
    private readonly size: () => number = () => 1,
    /** Returns the time in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The number of waiting tasks. */
  get length(): number {
    return [...this.waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get isBusy(): boolean {
    return this.running > 0;
  }

  /**
   * Settles like the task, or rejects with DomainError SERVICE_UNAVAILABLE if it has waited too
   * long. If too many tasks wait, the newest one of the caller with the most waiting tasks is
   * rejected.
   */
  run<T>(caller: unknown, task: () => Promise<T>, key?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        this.running--;
        if (key !== undefined) this.keys.delete(key);
        this.next();
      };
      const begin = async () => {
        // A task may throw before it returns a promise.
        await new Promise<T>((settle) => settle(task())).then(resolve, reject);
        // The caller of the task continues first.
        setImmediate(end);
      };
      const own = this.waiting.get(caller) ?? [];
      own.push({ since: this.now(), key, begin, refuse: () => reject(unavailableError()) });
      this.waiting.set(caller, own);
      this.next();
      if (this.length > this.limits.queue) this.refuseOne(own);
    });
  }

  private next(): void {
    this.refuseLate();
    // A caller that is served moves to the end of the map, so the loop reaches it again.
    for (const [caller, tasks] of this.waiting) {
      if (this.running >= this.size()) return;
      const index = tasks.findIndex(({ key }) => key === undefined || !this.keys.has(key));
      if (index === -1) continue;
      const [{ begin, key }] = tasks.splice(index, 1) as [WaitingTask];
      this.waiting.delete(caller);
      if (tasks.length > 0) this.waiting.set(caller, tasks);
      this.running++;
      if (key !== undefined) this.keys.add(key);
      void begin();
    }
  }

  private refuseLate(): void {
    const oldest = this.now() - this.limits.wait;
    for (const [caller, tasks] of this.waiting) {
      while (tasks[0] && tasks[0].since < oldest) tasks.shift()!.refuse();
      if (tasks.length === 0) this.waiting.delete(caller);
    }
  }

  private refuseOne(newest: WaitingTask[]): void {
    const longest = [...this.waiting.values()].reduce(
      (most, tasks) => (tasks.length > most.length ? tasks : most),
      newest,
    );
    longest.pop()!.refuse();
    // `refuseLate` removes a caller's empty list.
  }
}
