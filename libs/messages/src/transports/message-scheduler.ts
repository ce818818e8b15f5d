/** The time for which messages are started before other work of the process runs. */
const SLICE_MS = 5;
/** The minimum cost of a task. */
const MIN_COST_MS = 0.05;

/** Starts a message. The rest of its work is asynchronous. */
type Task = () => void;

/** Tasks that wait, in the order in which they are due. */
interface TaskQueue {
  readonly waiting: { readonly task: Task; readonly due: number }[];
  /** The due time of the last task, in milliseconds of work, not of a clock. */
  time: number;
}

/**
 * Starts messages in short time slices, so that a client that sends many does not delay others. A
 * connection has one task here at a time, and the longer its last task took, the later it is due
 * (fair queueing). Anonymous and authenticated connections have a queue each. The queues alternate,
 * so that neither waits for all of the other.
 */
export class MessageScheduler {
  private readonly authenticated: TaskQueue = { waiting: [], time: 0 };
  private readonly anonymous: TaskQueue = { waiting: [], time: 0 };
  private isRunning = false;

  /** Runs a task soon. `costMs` is the duration of the last task of the same connection. */
  schedule(task: Task, costMs = 0, isAnonymous = false): void {
    const { waiting, time } = isAnonymous ? this.anonymous : this.authenticated;
    const due = time + Math.max(costMs, MIN_COST_MS);
    let index = waiting.length;
    while (index > 0 && waiting[index - 1]!.due > due) index--;
    waiting.splice(index, 0, { task, due });
    if (!this.isRunning) this.proceed();
  }

  private proceed(): void {
    this.isRunning = this.hasTasks();
    if (this.isRunning) setImmediate(() => this.runSlice());
  }

  private runSlice(): void {
    const end = performance.now() + SLICE_MS;
    try {
      do {
        for (const queue of [this.authenticated, this.anonymous]) {
          const next = queue.waiting.shift();
          if (!next) continue;
          queue.time = next.due;
          next.task();
        }
      } while (performance.now() < end && this.hasTasks());
    } finally {
      // A task that fails does not stop the others.
      this.proceed();
    }
  }

  private hasTasks(): boolean {
    return this.authenticated.waiting.length + this.anonymous.waiting.length > 0;
  }
}
