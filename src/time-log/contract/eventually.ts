import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two looks at a condition of which nobody tells. */
const PAUSE = 20;

/** Tries until the attempt no longer throws. Rejects with its last error when the time (milliseconds) is over. */
export async function eventually<T>(attempt: () => T | Promise<T>, limit = 60_000): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end)
        throw new Error(`not within ${limit / 1_000} s: ${String(error)}`, { cause: error });
      await delay(PAUSE);
    }
  }
}
