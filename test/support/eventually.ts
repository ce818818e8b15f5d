import { setTimeout as delay } from 'node:timers/promises';

const RETRY_INTERVAL_MS = 20;
/** The maximum time in milliseconds that a test waits. It is not a promise of speed. */
export const WAIT_LIMIT = 300_000;

/** Repeats an attempt until it does not throw. Rejects after the limit. */
export async function eventually<T>(attempt: () => T | Promise<T>, limitMs = WAIT_LIMIT): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end)
        throw new Error(`not within ${limitMs / 1_000} s: ${String(error)}`, { cause: error });
      await delay(RETRY_INTERVAL_MS);
    }
  }
}
