import { unavailableError } from './batcher.js';

/** The greatest time of a timer of Node.js. A caller may wait without a limit. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface TaskOptions {
  /** Tasks with the same key run one at a time. */
  readonly key?: string | undefined;
  /** The maximum time that the task waits. The default is that of the limit. */
  readonly waitMs?: number | undefined;
}

interface WaitingTask {
  readonly caller: unknown;
  readonly key: string | undefined;
  readonly begin: () => void;
}

/**
 * Runs a limited number of tasks at a time. The others wait in order of arrival, but those of a caller that has a
 * quarter of the tasks let others go first.
 */
export class Limit {
  private readonly waiting: WaitingTask[] = [];
  private running = 0;
  private readonly runningOf = new Map<unknown, number>();
  private readonly runningKeys = new Set<string>();

  constructor(
    /** Returns the number of tasks at a time. Called at each start: a pool may not be open yet. */
    private readonly size: () => number,
    /** The maximum time that a task waits. */
    private readonly waitMs: number,
  ) {}

  /** The number of waiting tasks. */
  get length(): number {
    return this.waiting.length;
  }

  /** Settles like the task, or throws DomainError SERVICE_UNAVAILABLE if it has waited too long. */
  async run<T>(
    caller: unknown,
    act: () => Promise<T>,
    { key, waitMs = this.waitMs }: TaskOptions = {},
  ): Promise<T> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.waiting.splice(this.waiting.indexOf(task), 1);
          reject(unavailableError());
        },
        Math.min(waitMs, MAX_TIMER_MS),
      );
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const task = { caller, key, begin };
      this.waiting.push(task);
      this.beginTasks();
    });
    try {
      return await act();
    } finally {
      this.running--;
      if (key !== undefined) this.runningKeys.delete(key);
      // The task still counts for its caller, so that another one goes first even if they share one place.
      this.beginTasks(false);
      this.count(caller, -1);
      this.beginTasks();
    }
  }

  /** Begins waiting tasks, first those of callers with less than their share. */
  private beginTasks(includesOthers = true): void {
    while (this.running < this.size()) {
      const share = Math.max(1, Math.floor(this.size() / 4));
      const free = this.waiting.filter(({ key }) => key === undefined || !this.runningKeys.has(key));
      const task =
        free.find(({ caller }) => (this.runningOf.get(caller) ?? 0) < share) ??
        (includesOthers ? free[0] : undefined);
      if (task === undefined) return;
      this.waiting.splice(this.waiting.indexOf(task), 1);
      this.running++;
      if (task.key !== undefined) this.runningKeys.add(task.key);
      this.count(task.caller, 1);
      task.begin();
    }
  }

  private count(caller: unknown, change: 1 | -1): void {
    const tasks = (this.runningOf.get(caller) ?? 0) + change;
    if (tasks > 0) this.runningOf.set(caller, tasks);
    else this.runningOf.delete(caller);
  }
}
