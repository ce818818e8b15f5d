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

/** Keys of one generation; two are remembered, some 15 MB. Keys beyond that are forgotten early: they have their whole quota again. */
const CAPACITY = 50_000;

/**
 * Counts the requests of each key in a window that begins with its first one: so what a key has left, and until when, are
 * two plain numbers that can be told. It needs no timer: windows that have ended are forgotten, a generation at a time,
 * when others begin.
 */
export class RateLimiter {
  private windows = new Map<string, Window>();
  /** Those that began before `windows` did. */
  private former = new Map<string, Window>();
  /** Milliseconds; by then all of `former` have ended. */
  private generationEnd = -Infinity;

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
    return this.windows.size + this.former.size;
  }

  private windowOf(key: string, now: number): Window {
    const known = this.windows.get(key) ?? this.former.get(key);
    if (known && known.end > now) return known;
    const end = now + this.quota.seconds * 1_000;
    if (now >= this.generationEnd || this.windows.size >= CAPACITY) {
      this.former = this.windows;
      this.windows = new Map();
      this.generationEnd = end;
    }
    const window = { end, used: 0 };
    this.windows.set(key, window);
    return window;
  }
}
