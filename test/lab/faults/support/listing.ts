import { setTimeout as delay } from 'node:timers/promises';
import { ask, type TimedAnswer } from './ask.js';

/** Milliseconds that a reader waits after a refusal. */
const PAUSE = 20;

/** Clients that list logs without a pause until they are stopped, which resolves with all that was not `200`. */
export function keepListing(url: string, count: number): { stop(): Promise<TimedAnswer[]> } {
  const refusals: TimedAnswer[] = [];
  let isListing = true;
  const list = async () => {
    while (isListing) {
      const answer = await ask(`${url}/api/v1/time-logs?limit=10`);
      if (answer.status === 200) continue;
      refusals.push(answer);
      await delay(PAUSE);
    }
  };
  const listing = Promise.all(Array.from({ length: count }, list));
  // Told by stop().
  listing.catch(() => undefined);
  return {
    stop: async () => {
      isListing = false;
      await listing;
      return refusals;
    },
  };
}
