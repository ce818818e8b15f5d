/** The fetch of browsers and Node, as far as it is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What a client takes from where it runs: the network, time and chance. */
export interface Runtime {
  readonly fetch: Fetch;
  /** Milliseconds since 1970: a clock that goes on while the machine sleeps, because an Idempotency-Key expires meanwhile. */
  readonly now: () => number;
  /** From 0 to less than 1. */
  readonly random: () => number;
  /** Acts after milliseconds, unless the returned function is called before. */
  readonly schedule: (act: () => void, milliseconds: number) => () => void;
}

/** The runtime of browsers and Node. */
export const RUNTIME: Runtime = {
  // Looked up when it is called: whoever instruments fetch may do so later than this module is loaded.
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  random: () => Math.random(),
  schedule: (act, milliseconds) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** 128 random bits in hex. Not crypto.randomUUID(), which pages of plain http lack. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
