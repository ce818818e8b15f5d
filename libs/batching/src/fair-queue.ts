import { type BatcherLimits, unavailable } from './batcher.js';

interface Waiting {
  readonly since: number;
  readonly key: string | undefined;
  readonly begin: () => Promise<void>;
  readonly refuse: () => void;
}

/**
 * Runs a limited number of tasks at a time, one of each waiting caller in rotation, so that no caller waits for all
 * that another one asks for. Tasks with the same key run one after the other, and hold up no other tasks meanwhile.
 */
export class FairQueue {
  /** The waiting tasks of each caller, oldest first. The caller that was served least recently comes first. */
  private readonly waiting = new Map<unknown, Waiting[]>();
  private readonly keys = new Set<string>();
  private running = 0;

  constructor(
    /** `queue` and `wait` bound the tasks that wait, of all callers together, and the time of each. */
    private readonly limits: Pick<BatcherLimits, 'queue' | 'wait'>,
    /** The number of tasks at a time; called at each start, because a pool may not be open yet. */
    private readonly size: () => number = () => 1,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The number of tasks that wait. */
  get length(): number {
    return [...this.waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get isBusy(): boolean {
    return this.running > 0;
  }

  /**
   * Settles like the task. Rejects with DomainError SERVICE_UNAVAILABLE if the task has waited too long, or if too many
   * tasks wait: then the newest task of the caller with the most waiting tasks is refused.
   */
  run<T>(caller: unknown, task: () => Promise<T>, key?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        this.running--;
        if (key !== undefined) this.keys.delete(key);
        this.next();
      };
      const begin = async () => {
        // A task may also throw before it returns a promise.
        await new Promise<T>((settle) => settle(task())).then(resolve, reject);
        // The caller of the task continues first.
        setImmediate(end);
      };
      const own = this.waiting.get(caller) ?? [];
      own.push({ since: this.now(), key, begin, refuse: () => reject(unavailable()) });
      this.waiting.set(caller, own);
      this.next();
      if (this.length > this.limits.queue) this.refuseOne(own);
    });
  }

  private next(): void {
    this.refuseLate();
    // A caller that is served here moves to the end, and so is reached again if there is room for more.
    for (const [caller, tasks] of this.waiting) {
      if (this.running >= this.size()) return;
      const index = tasks.findIndex(({ key }) => key === undefined || !this.keys.has(key));
      if (index === -1) continue;
      const [{ begin, key }] = tasks.splice(index, 1) as [Waiting];
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

  private refuseOne(newcomers: Waiting[]): void {
    const longest = [...this.waiting.values()].reduce(
      (most, tasks) => (tasks.length > most.length ? tasks : most),
      newcomers,
    );
    longest.pop()!.refuse();
    // An empty list of a caller is removed the next time that tasks begin.
  }
}
