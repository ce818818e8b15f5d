/** The maximum number of requests of a key in a window of time. */
export interface Quota {
  readonly requests: number;
  readonly seconds: number;
}

/** The state of a key's quota after a request. */
export interface Allowance {
  readonly isAllowed: boolean;
  /** The number of requests that the window still allows. */
  readonly remaining: number;
  /** Whole seconds until the window ends and the quota is full again; at least 1. */
  readonly seconds: number;
}

interface Window {
  /** The end of the window, in milliseconds. */
  readonly end: number;
  used: number;
}

/**
 * The maximum number of keys in a generation. Two generations take about 15 MB. Beyond that the
 * oldest keys are forgotten early and get a new window.
 */
const MAX_KEYS_PER_GENERATION = 50_000;

/**
 * Counts the requests of each key in a window, which begins with the key's first request. It needs
 * no timer: when a window begins, a whole generation of ended windows is forgotten.
 */
export class RateLimiter {
  private windows = new Map<string, Window>();
  /** The windows that began before those in `windows`. */
  private previous = new Map<string, Window>();
  /** The time in milliseconds by which all windows in `previous` have ended. */
  private generationEnd = -Infinity;

  constructor(
    private readonly quota: Quota,
    /** Returns the time in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts a request of a key, unless the key has used up its quota. */
  take(key: string): Allowance {
    // A whole number: rounding a sum of fractions could give an hour 3,601 seconds.
    const now = Math.floor(this.now());
    const window = this.windowOf(key, now);
    const isAllowed = window.used < this.quota.requests;
    if (isAllowed) window.used++;
    return {
      isAllowed,
      remaining: this.quota.requests - window.used,
      seconds: Math.ceil((window.end - now) / 1_000),
    };
  }

  /** The number of stored keys. */
  get size(): number {
    return this.windows.size + this.previous.size;
  }

  private windowOf(key: string, now: number): Window {
    const known = this.windows.get(key) ?? this.previous.get(key);
    if (known && known.end > now) return known;
    const end = now + this.quota.seconds * 1_000;
    if (now >= this.generationEnd || this.windows.size >= MAX_KEYS_PER_GENERATION) {
      this.previous = this.windows;
      this.windows = new Map();
      this.generationEnd = end;
    }
    const window = { end, used: 0 };
    this.windows.set(key, window);
    return window;
  }
}
