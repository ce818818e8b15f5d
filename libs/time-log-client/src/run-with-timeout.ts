import type { Runtime } from './runtime.js';

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
