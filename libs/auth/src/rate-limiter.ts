/** How many requests a key may make in a window of time. */
export interface Quota {
  readonly requests: number;
  readonly seconds: number;
}

/** What a key has left after one of its requests. */
export interface Allowance {
  readonly isAllowed: boolean;
  /** Requests. */
  readonly remaining: number;
  /** Whole seconds until the window ends and the quota is full again; at least 1. */
  readonly seconds: number;
}

interface Window {
  /** Milliseconds. */
  readonly end: number;
  used: number;
}

/**
 * Keys in one generation. Two generations are kept, some 15 MB. Keys beyond that are forgotten early and start anew.
 */
const CAPACITY = 50_000;

/**
 * Counts the requests of each key in a window. A window begins with the key's first request, so two plain numbers say
 * what is left and until when. It needs no timer: when windows begin, those that have ended are forgotten, a whole
 * generation at a time.
 */
export class RateLimiter {
  private windows = new Map<string, Window>();
  /** Windows that began before those in `windows`. */
  private former = new Map<string, Window>();
  /** In milliseconds. By then all windows in `former` have ended. */
  private generationEnd = -Infinity;

  constructor(
    private readonly quota: Quota,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts a request of a key, unless the key has used up its quota. */
  take(key: string): Allowance {
    // Whole: a sum of fractions, rounded, could end a window of an hour in 3,601 seconds.
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

  /** How many keys are kept. */
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
