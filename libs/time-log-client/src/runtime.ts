/** The fetch of browsers and Node: the parts that are used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What a client needs from its environment: the network, time and chance. */
export interface Runtime {
  readonly fetch: Fetch;
  /** Milliseconds since 1970. This clock must go on while the machine sleeps: an Idempotency-Key expires meanwhile. */
  readonly now: () => number;
  /** From 0 to less than 1. */
  readonly random: () => number;
  /** Calls `act` after so many milliseconds, unless the returned function is called first. */
  readonly schedule: (act: () => void, milliseconds: number) => () => void;
}

/** The runtime of browsers and Node. */
export const RUNTIME: Runtime = {
  // Looks fetch up at each call: it may be instrumented after this module is loaded.
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  random: () => Math.random(),
  schedule: (act, milliseconds) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** 128 random bits in hex. crypto.randomUUID() is missing on pages of plain http. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
