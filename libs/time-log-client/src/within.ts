import type { Runtime } from './runtime.js';

/** How long to wait. */
interface Patience {
  /** At most 2^31-1. */
  readonly milliseconds: number;
  readonly signal: AbortSignal | undefined;
}

/** Why the wait ended before the work was done. */
export const LATE = Symbol('the time is up');
export const ABORTED = Symbol('the signal has aborted');

/**
 * Waits for work until the time is up or the signal aborts. Then it aborts the work's own signal too, with the reason.
 */
export async function within<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { milliseconds, signal }: Patience,
  schedule: Runtime['schedule'],
): Promise<T | typeof LATE | typeof ABORTED> {
  if (signal?.aborted) return ABORTED;
  const controller = new AbortController();
  let cancel!: () => void;
  let reason: typeof LATE | typeof ABORTED | undefined;
  const interruption = new Promise<typeof LATE | typeof ABORTED>((resolve) => {
    const abort = () => resolve((reason = ABORTED));
    const stopTimer = schedule(() => resolve((reason = LATE)), milliseconds);
    signal?.addEventListener('abort', abort);
    cancel = () => {
      stopTimer();
      signal?.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([work(controller.signal), interruption]);
  } finally {
    cancel();
    controller.abort(reason);
  }
}
