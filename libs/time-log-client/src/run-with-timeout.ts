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

/** The limits of a wait. */
interface WaitLimits {
  /** At most 2^31-1. */
  readonly milliseconds: number;
  readonly signal: AbortSignal | undefined;
}

/** The result if the wait ended before the work. */
export const TIMED_OUT = Symbol('TIMED_OUT');
export const ABORTED = Symbol('ABORTED');

/**
 * Runs work until the timeout or the abort of a signal. If the work has not ended by then, aborts its
 * signal with TIMED_OUT or ABORTED as the reason.
 */
export async function runWithTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { milliseconds, signal }: WaitLimits,
  schedule: Runtime['schedule'],
): Promise<T | typeof TIMED_OUT | typeof ABORTED> {
  if (signal?.aborted) return ABORTED;
  const controller = new AbortController();
  let stopWaiting!: () => void;
  let reason: typeof TIMED_OUT | typeof ABORTED | undefined;
  const interruption = new Promise<typeof TIMED_OUT | typeof ABORTED>((resolve) => {
    const abort = () => resolve((reason = ABORTED));
    const stopTimer = schedule(() => resolve((reason = TIMED_OUT)), milliseconds);
    signal?.addEventListener('abort', abort);
    stopWaiting = () => {
      stopTimer();
      signal?.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([work(controller.signal), interruption]);
  } finally {
    stopWaiting();
    if (reason) controller.abort(reason);
  }
}

/** Waits until the timeout or the abort of a signal. */
export function wait(
  limits: WaitLimits,
  schedule: Runtime['schedule'],
): Promise<typeof TIMED_OUT | typeof ABORTED> {
  return runWithTimeout(() => new Promise<never>(() => undefined), limits, schedule);
}
