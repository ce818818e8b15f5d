/** The part of the fetch API that is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The network, time and randomness of a client. */
export interface Runtime {
  readonly fetch: Fetch;
  /** Returns the milliseconds since 1970. The clock includes the time of a suspended machine. */
  readonly now: () => number;
  /** Returns a number from 0 to less than 1. */
  readonly random: () => number;
  /** Calls `callback` after the delay, unless the returned function is called first. */
  readonly schedule: (callback: () => void, milliseconds: number) => () => void;
}

/** The runtime of browsers and Node. */
export const RUNTIME: Runtime = {
  // fetch is looked up at each call, because it may be instrumented later.
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  random: () => Math.random(),
  schedule: (callback, milliseconds) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Returns 128 random bits in hex. crypto.randomUUID() is missing on pages of plain http. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
