/** How many requests a key may make in a window of time. */
export interface Quota {
  readonly requests: number;
  readonly seconds: number;
}

/** What a key has left after a request of it. */
export interface Allowance {
  readonly isAllowed: boolean;
  /** Requests. */
  readonly remaining: number;
  /** Whole seconds until the window ends and the quota is whole again; at least 1. */
  readonly seconds: number;
}

interface Window {
  /** Milliseconds. */
  readonly end: number;
  used: number;
}

/** Keys that are remembered, some 10 MB. Beyond that the oldest are forgotten: they have their whole quota again. */
const CAPACITY = 100_000;

/**
 * Counts the requests of each key in a window that begins with its first one: so what a key has left, and until when, are
 * two plain numbers that can be told. It needs no timer: windows that have ended are forgotten when others begin.
 */
export class RateLimiter {
  /** In the order in which they began, which is that in which they end. */
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly quota: Quota,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts a request of a key, unless its quota is used up. */
  take(key: string): Allowance {
    const now = this.now();
    const window = this.windowOf(key, now);
    const isAllowed = window.used < this.quota.requests;
    if (isAllowed) window.used++;
    return {
      isAllowed,
      remaining: this.quota.requests - window.used,
      seconds: Math.ceil((window.end - now) / 1_000),
    };
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.windows.size;
  }

  private windowOf(key: string, now: number): Window {
    const known = this.windows.get(key);
    if (known && known.end > now) return known;
    this.forget(now);
    const window = { end: now + this.quota.seconds * 1_000, used: 0 };
    this.windows.set(key, window);
    return window;
  }

  private forget(now: number): void {
    for (const [key, { end }] of this.windows) {
      if (end > now && this.windows.size < CAPACITY) return;
      this.windows.delete(key);
    }
  }
}
