import { callerOf } from '../../../libs/auth/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { withinDeadline } from '../../../libs/strict-request/src/index.js';
import { CallerTurns } from './caller-turns.js';

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
};

/** Where an answer goes. */
export interface Outlet {
  /** Whether nobody is there any more. */
  isClosed(): boolean;
  /** Resolves when all that was handed over has left the process or is lost. */
  sent(): Promise<unknown>;
  /** Gives up what has not left yet. */
  close(): void;
}

/** Call it with the bytes of each part of an answer. Throws DomainError SERVICE_UNAVAILABLE where there is no room. */
export type Grow = (bytes: number) => void;

/** How an answer is made. */
export interface Making<T> {
  /** At least how many bytes it has. It is asked where there is no room: then only a small answer is made. */
  readonly weigh: () => Promise<number>;
  readonly make: (grow: Grow) => Promise<T>;
}

/**
 * Bounds what answers with many items take, for requests and messages together. They are made one after the other, for
 * the callers in turn. What turns out large needs room until it has left the process, and no caller can hold all of it.
 */
export class LargeAnswers {
  private readonly limits: typeof LIMITS;
  private readonly turns = new CallerTurns();
  /** Bytes of large answers, by caller. */
  private readonly held = new Map<string | undefined, number>();

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.limits = { ...LIMITS, ...limits };
  }

  /** Whether an answer with so many items must be made here. */
  mayBeLarge(items: number): boolean {
    return items > FEW;
  }

  /**
   * Makes the answer to a request or message in the turn of its caller; undefined where nobody is there any more. Throws
   * what the making throws, and DomainError SERVICE_UNAVAILABLE where there is no room, or at the deadline of the
   * request.
   */
  async make<T>(request: object, outlet: Outlet, { weigh, make }: Making<T>): Promise<T | undefined> {
    const caller = callerOf(request)?.id;
    let bytes = 0;
    const grow: Grow = (more) => {
      bytes += more;
      if (bytes > this.limits.small && !this.hasRoom(caller)) throw new DomainError('SERVICE_UNAVAILABLE');
    };
    const asked = this.turns.take(caller, async () => {
      if (outlet.isClosed()) return undefined;
      if (!this.hasRoom(caller) && (await weigh()) > this.limits.small)
        throw new DomainError('SERVICE_UNAVAILABLE');
      return make(grow);
    });
    const answer = await withinDeadline(request, asked.done).catch((error: unknown) => {
      asked.leave();
      throw error;
    });
    if (bytes > this.limits.small) this.hold(caller, bytes, outlet);
    return answer;
  }

  private hasRoom(caller: string | undefined): boolean {
    const total = [...this.held.values()].reduce((sum, bytes) => sum + bytes, 0);
    return total < this.limits.room && (this.held.get(caller) ?? 0) < this.limits.share;
  }

  private hold(caller: string | undefined, bytes: number, outlet: Outlet): void {
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
