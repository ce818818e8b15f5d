import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two looks at the feed, and until one that still lacks something has failed. */
const PAUSE = 20;
const LIMIT = 60_000;

/** Tries until the attempt throws no more; rejects with what it threw last. The feed may tell a log later. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + LIMIT;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(PAUSE);
    }
  }
}
