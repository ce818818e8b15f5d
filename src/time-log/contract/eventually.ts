import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 20;
/** Milliseconds: the one limit of what tests wait for. It ends what hangs, and is no promise of speed. */
export const WAIT_LIMIT = 300_000;

/** Repeats an attempt until it no longer throws. Rejects with its last error after the limit, in milliseconds. */
export async function eventually<T>(attempt: () => T | Promise<T>, limit = WAIT_LIMIT): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end)
        throw new Error(`not within ${limit / 1_000} s: ${String(error)}`, { cause: error });
      await delay(PAUSE_MS);
    }
  }
}
