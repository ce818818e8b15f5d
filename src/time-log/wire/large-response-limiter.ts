import { callerOf } from '../../../libs/auth/src/index.js';
import { FairQueue } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { isOverdue, type ResponseChannel, withinDeadline } from '../../../libs/strict-request/src/index.js';
import { QUEUE_SHARE, TIME_LOG_LIMITS } from '../time-log.limits.js';

/** The maximum number of items of a list that is never large, so that it needs no limiter. */
export const MAX_SMALL_LIST_ITEMS = 100;

const LIMITS = {
  /** The maximum size of a small response. 100 of the longest descriptions are 2 MB, 1000 are 20 MB. */
  smallBytes: 2 * 1024 * 1024,
  /** The size of all unsent large responses above which no other one is made. */
  unsentBytes: 128 * 1024 * 1024,
  /** The same for one caller. */
  unsentBytesPerCaller: 32 * 1024 * 1024,
  /** The maximum time that a client may take to receive a large response: 35 kB a second for 20 MB. */
  sendMs: 10 * 60_000,
  /** The maximum time that a response may wait in the queue. */
  queueMs: QUEUE_SHARE * TIME_LOG_LIMITS.deadline,
};

/** Reports the bytes of each part of a response. Throws DomainError SERVICE_UNAVAILABLE above a limit. */
export type ReportBytes = (bytes: number) => void;

/** A job that makes a response. */
export interface ResponseJob<T> {
  /**
   * Returns a lower bound for the bytes of the response, or undefined if there is none. It is called only if a
   * limit is reached or the queue is busy, when only small responses are made.
   */
  readonly estimateBytes: () => Promise<number | undefined>;
  readonly make: (reportBytes: ReportBytes) => Promise<T>;
}

/** The error if a response that was estimated small grows large. It is then made in the other queue. */
const GREW_LARGE = new Error('the response has grown large');

/**
 * Limits the memory of responses with many items, for requests and messages together. They are made one at a
 * time, for callers in rotation; small ones do not wait for large ones. A large response counts until it has
 * left the process, and no caller can use all of the memory.
 */
export class LargeResponseLimiter {
  private readonly limits: typeof LIMITS;
  private readonly largeQueue: FairQueue;
  /** The queue of responses that may be small, used while the other queue is busy. */
  private readonly smallQueue: FairQueue;
  /** The bytes of unsent large responses, by caller. */
  private readonly unsent = new Map<string | undefined, number>();

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.limits = { ...LIMITS, ...limits };
    const queueLimits = { queue: Infinity, wait: this.limits.queueMs };
    this.largeQueue = new FairQueue(queueLimits);
    this.smallQueue = new FairQueue(queueLimits);
  }

  /**
   * Makes a response when its caller is served; undefined if the client has disconnected. Throws what the job
   * throws, and DomainError SERVICE_UNAVAILABLE above a limit or at the deadline of the request.
   */
  async make<T>(request: object, channel: ResponseChannel, job: ResponseJob<T>): Promise<T | undefined> {
    const small = this.largeQueue.isBusy
      ? await runIn(this.smallQueue, request, () => this.makeSmall(request, channel, job))
      : 'large';
    return small === 'large' ? this.makeLarge(request, channel, job) : small.response;
  }

  private async makeSmall<T>(
    request: object,
    channel: ResponseChannel,
    { estimateBytes, make }: ResponseJob<T>,
  ): Promise<{ readonly response: T | undefined } | 'large'> {
    requireTime(request);
    if (channel.isClosed()) return { response: undefined };
    if (!this.isSmall(await estimateBytes())) return 'large';
    let bytes = 0;
    const reportBytes: ReportBytes = (more) => {
      bytes += more;
      if (!this.isSmall(bytes)) throw GREW_LARGE;
    };
    try {
      return { response: await make(reportBytes) };
    } catch (error) {
      if (error === GREW_LARGE) return 'large';
      throw error;
    }
  }

  private async makeLarge<T>(
    request: object,
    channel: ResponseChannel,
    { estimateBytes, make }: ResponseJob<T>,
  ): Promise<T | undefined> {
    const caller = callerOf(request)?.id;
    let bytes = 0;
    const reportBytes: ReportBytes = (more) => {
      bytes += more;
      if (!this.isSmall(bytes) && !this.hasRoom(caller)) throw new DomainError('SERVICE_UNAVAILABLE');
    };
    const response = await runIn(this.largeQueue, request, async () => {
      requireTime(request);
      if (channel.isClosed()) return undefined;
      // Without an estimate the response is made until it grows large.
      if (!this.hasRoom(caller) && !this.isSmall((await estimateBytes()) ?? 0))
        throw new DomainError('SERVICE_UNAVAILABLE');
      return make(reportBytes);
    });
    if (!this.isSmall(bytes)) this.countUnsent(caller, bytes, channel);
    return response;
  }

  private isSmall(bytes: number | undefined): boolean {
    return bytes !== undefined && bytes <= this.limits.smallBytes;
  }

  private hasRoom(caller: string | undefined): boolean {
    const { unsentBytes, unsentBytesPerCaller } = this.limits;
    const total = [...this.unsent.values()].reduce((sum, bytes) => sum + bytes, 0);
    return total < unsentBytes && (this.unsent.get(caller) ?? 0) < unsentBytesPerCaller;
  }

  private countUnsent(caller: string | undefined, bytes: number, channel: ResponseChannel): void {
    const { unsent } = this;
    unsent.set(caller, (unsent.get(caller) ?? 0) + bytes);
    const timer = setTimeout(() => channel.close(), this.limits.sendMs).unref();
    const release = () => {
      clearTimeout(timer);
      const rest = unsent.get(caller)! - bytes;
      if (rest > 0) unsent.set(caller, rest);
      else unsent.delete(caller);
    };
    // The response is written before this runs.
    setImmediate(() => void channel.sent().then(release, release));
  }
}

/** Throws DomainError SERVICE_UNAVAILABLE if the deadline of a request has passed. */
function requireTime(request: object): void {
  if (isOverdue(request)) throw new DomainError('SERVICE_UNAVAILABLE');
}

/** Runs a task in a queue for the caller of a request. At the deadline of the request its result is dropped. */
function runIn<T>(queue: FairQueue, request: object, task: () => Promise<T>): Promise<T> {
  return withinDeadline(request, queue.run(callerOf(request)?.id, task));
}
