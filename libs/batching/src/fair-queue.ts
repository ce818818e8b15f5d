import { AsyncResource } from 'node:async_hooks';
import { type BatcherLimits, type MeasurableBatcher, unavailableError } from './batcher.js';

interface TaskOptions {
  /** The share of the queue that the task takes while it waits, at most all of it. The default is 1. */
  readonly weight?: number;
  /** The time in milliseconds that it waits, even if too many tasks do. */
  readonly wait?: number | undefined;
}

interface WaitingTask {
  readonly weight: number;
  /** Whether it counts towards the limit of waiting tasks. */
  readonly isLimited: boolean;
  /** When the caller gives up, in milliseconds. */
  readonly until: number;
  readonly key: string | undefined;
  begin: () => Promise<void>;
  readonly refuse: (message?: string) => void;
}

/**
 * Runs a limited number of tasks at a time, one of each waiting caller in rotation. Tasks with the
 * same key run one at a time without delaying others.
 */
export class FairQueue {
  /** As in a Batcher: the weight of each task when it begins, and the seconds that it has waited. */
  observers: MeasurableBatcher['observers'];
  /** The waiting tasks of each caller, oldest first. The next caller to serve comes first. */
  private readonly waiting = new Map<unknown, WaitingTask[]>();
  /** The keys of the running tasks. */
  private readonly keys = new Set<string>();
  private running = 0;
  /** The weights of the waiting tasks, and of those that count towards the limit. */
  private weight = 0;
  private limitedWeight = 0;

  constructor(
    /** `queue` limits the waiting tasks of all callers together, and `wait` the time of each. */
    private readonly limits: Omit<BatcherLimits, 'batch'>,
    /** Returns the number of tasks at a time. Called at each start: a pool may not be open yet. */
    private readonly size: () => number = () => 1,
    /** Returns the time in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The weight of the waiting tasks. */
  get length(): number {
    return this.weight;
  }

  get isBusy(): boolean {
    return this.running > 0;
  }

  /**
   * Settles like the task, or rejects with DomainError SERVICE_UNAVAILABLE if it has waited too
   * long. If too many tasks wait, the newest one of the caller with the most waiting tasks is
   * rejected, each counted by its weight.
   */
  run<T>(
    caller: unknown,
    act: () => Promise<T>,
    key?: string,
    { weight = 1, wait }: TaskOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        this.running--;
        if (key !== undefined) this.keys.delete(key);
        this.next();
      };
      const since = this.now();
      const begin = async () => {
        this.observers?.size.observe(weight);
        this.observers?.wait.observe((this.now() - since) / 1_000);
        // A task may throw before it returns a promise.
        await new Promise<T>((settle) => settle(act())).then(resolve, reject);
        // The caller of the task continues first.
        setImmediate(end);
      };
      const own = this.waiting.get(caller) ?? [];
      const task: WaitingTask = {
        weight: Math.min(weight, this.limits.queue || 1),
        isLimited: wait === undefined,
        until: since + (wait ?? this.limits.wait),
        key,
        begin,
        refuse: (message) => reject(unavailableError(message)),
      };
      own.push(task);
      this.count(task, 1);
      this.waiting.set(caller, own);
      this.next();
      // Another task begins one that has to wait, which still runs in its own asynchronous context.
      if (own.at(-1) === task) {
        // AsyncResource.bind costs a hundred times as much.
        const context = new AsyncResource('FairQueue');
        task.begin = () => context.runInAsyncScope(begin);
      }
      while (this.limitedWeight > this.limits.queue) this.refuseOne(own);
    });
  }

  private next(): void {
    this.refuseLate();
    // A caller that is served moves to the end of the map, so the loop reaches it again.
    for (const [caller, tasks] of this.waiting) {
      if (this.running >= this.size()) return;
      const index = tasks.findIndex(({ key }) => key === undefined || !this.keys.has(key));
      if (index === -1) continue;
      const [task] = tasks.splice(index, 1) as [WaitingTask];
      const { begin, key } = task;
      this.count(task, -1);
      this.waiting.delete(caller);
      if (tasks.length > 0) this.waiting.set(caller, tasks);
      this.running++;
      if (key !== undefined) this.keys.add(key);
      void begin();
    }
  }

  /** A late task behind one with a longer wait of its own is refused after that. */
  private refuseLate(): void {
    const now = this.now();
    for (const [caller, tasks] of this.waiting) {
      while (tasks[0] && tasks[0].until < now) this.refuse(tasks, 0);
      if (tasks.length === 0) this.waiting.delete(caller);
    }
  }

  private refuseOne(newest: WaitingTask[]): void {
    const heaviest = [...this.waiting.values()].reduce(
      (most, tasks) => (limitedWeightOf(tasks) > limitedWeightOf(most) ? tasks : most),
      newest,
    );
    const index = heaviest.findLastIndex(({ isLimited }) => isLimited);
    this.refuse(heaviest, index, this.limits.fullMessage);
    // `refuseLate` removes a caller's empty list.
  }

  private refuse(tasks: WaitingTask[], index: number, message?: string): void {
    const [task] = tasks.splice(index, 1) as [WaitingTask];
    this.count(task, -1);
    task.refuse(message);
  }

  private count({ weight, isLimited }: WaitingTask, sign: 1 | -1): void {
    this.weight += sign * weight;
    if (isLimited) this.limitedWeight += sign * weight;
  }
}

function limitedWeightOf(tasks: readonly WaitingTask[]): number {
  return tasks.reduce((sum, { weight, isLimited }) => (isLimited ? sum + weight : sum), 0);
}
