import { callerOf } from '../../../libs/auth/src/index.js';
import { FairQueue } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { isOverdue, type ResponseChannel, withinDeadline } from '../../../libs/strict-request/src/index.js';
import { QUEUE_SHARE, TIME_LOG_LIMITS } from '../time-log.limits.js';

/** An answer with more items may be large. */
const FEW = 100;

const LIMITS = {
  /** Bytes up to which an answer is small. 100 of the longest descriptions are 2 MB, 1000 are 20 MB. */
  small: 2 * 1024 * 1024,
  /** The bytes of large answers that may wait for their clients. Above it no further one is made. */
  room: 128 * 1024 * 1024,
  /** What of it one caller may hold. */
  share: 32 * 1024 * 1024,
  /**
   * Milliseconds that a client may take for a large answer: for 20 MB some 35 kB a second. Who has less gets all but
   * the largest at the least rate of the edge.
   */
  longest: 10 * 60_000,
  /** Milliseconds that an answer may wait in the queue. */
  wait: QUEUE_SHARE * TIME_LOG_LIMITS.deadline,
};

/** Call it with the bytes of each part of an answer. Throws DomainError SERVICE_UNAVAILABLE where there is no room. */
export type Grow = (bytes: number) => void;

/** How an answer is made. */
export interface Making<T> {
  /**
   * At least how many bytes it has, or undefined where nobody knows. It is asked where there is no room, or others have
   * their turn: then only a small answer is made.
   */
  readonly weigh: () => Promise<number | undefined>;
  readonly make: (grow: Grow) => Promise<T>;
}

/** What began as a small answer is large: its JSON has more bytes than its texts. */
const GROWN = new Error('the answer has grown large');

/**
 * Bounds what answers with many items take, for requests and messages together. They are made one after the other, for
 * the callers in turn; small ones need not wait for large ones. What turns out large needs room until it has left the
 * process, and no caller can hold all of it.
 */
export class LargeAnswers {
  private readonly limits: typeof LIMITS;
  private readonly turns: FairQueue;
  /** Of those that look whether what they ask for is small, while a large answer may be made. */
  private readonly looks: FairQueue;
  /** Bytes of large answers, by caller. */
  private readonly held = new Map<string | undefined, number>();

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.limits = { ...LIMITS, ...limits };
    const bounds = { queue: Infinity, wait: this.limits.wait };
    this.turns = new FairQueue(bounds);
    this.looks = new FairQueue(bounds);
  }

  /** Whether an answer with so many items must be made here. */
  mayBeLarge(items: number): boolean {
    return items > FEW;
  }

  /**
   * Makes the answer to a request or message in the turn of its caller; undefined where nobody is there any more.
   * Throws what the making throws, and DomainError SERVICE_UNAVAILABLE where there is no room, or at the deadline of
   * the request.
   */
  async make<T>(request: object, outlet: ResponseChannel, making: Making<T>): Promise<T | undefined> {
    const small = this.turns.isBusy
      ? await inTurn(this.looks, request, () => this.makeSmall(request, outlet, making))
      : 'large';
    return small === 'large' ? this.makeLarge(request, outlet, making) : small.answer;
  }

  private async makeSmall<T>(
    request: object,
    outlet: ResponseChannel,
    { weigh, make }: Making<T>,
  ): Promise<{ readonly answer: T | undefined } | 'large'> {
    if (outlet.isClosed() || isOverdue(request)) return { answer: undefined };
    if (!this.isSmall(await weigh())) return 'large';
    let bytes = 0;
    const grow: Grow = (more) => {
      bytes += more;
      if (!this.isSmall(bytes)) throw GROWN;
    };
    try {
      return { answer: await make(grow) };
    } catch (error) {
      if (error === GROWN) return 'large';
      throw error;
    }
  }

  private async makeLarge<T>(
    request: object,
    outlet: ResponseChannel,
    { weigh, make }: Making<T>,
  ): Promise<T | undefined> {
    const caller = callerOf(request)?.id;
    let bytes = 0;
    const grow: Grow = (more) => {
      bytes += more;
      if (!this.isSmall(bytes) && !this.hasRoom(caller)) throw new DomainError('SERVICE_UNAVAILABLE');
    };
    const answer = await inTurn(this.turns, request, async () => {
      if (outlet.isClosed() || isOverdue(request)) return undefined;
      // What nobody can weigh is made until it has grown.
      if (!this.hasRoom(caller) && !this.isSmall((await weigh()) ?? 0))
        throw new DomainError('SERVICE_UNAVAILABLE');
      return make(grow);
    });
    if (!this.isSmall(bytes)) this.hold(caller, bytes, outlet);
    return answer;
  }

  private isSmall(bytes: number | undefined): boolean {
    return bytes !== undefined && bytes <= this.limits.small;
  }

  private hasRoom(caller: string | undefined): boolean {
    const total = [...this.held.values()].reduce((sum, bytes) => sum + bytes, 0);
    return total < this.limits.room && (this.held.get(caller) ?? 0) < this.limits.share;
  }

  private hold(caller: string | undefined, bytes: number, outlet: ResponseChannel): void {
    const { held } = this;
    held.set(caller, (held.get(caller) ?? 0) + bytes);
    const timer = setTimeout(() => outlet.close(), this.limits.longest).unref();
    const free = () => {
      clearTimeout(timer);
      const left = held.get(caller)! - bytes;
      if (left > 0) held.set(caller, left);
      else held.delete(caller);
    };
    // The answer is handed over in the ticks before this.
    setImmediate(() => void outlet.sent().then(free, free));
  }
}

/** Runs the work in the queue of its caller. At the deadline of the request its outcome is dropped. */
function inTurn<T>(turns: FairQueue, request: object, work: () => Promise<T>): Promise<T> {
  return withinDeadline(request, turns.run(callerOf(request)?.id, work));
}
