import type { ServerResponse } from 'node:http';

/** The minimum rate at which a client must read, on average over the time that the response waits for it. */
const RATE = { bytes: 30 * 256_000, waitMs: 30_000 };

/**
 * Writes the parts of a response as fast as its client reads. Throws what the parts throw, the reason of the
 * signal, and an Error if the client is too slow. The time in which the parts are made does not count.
 */
export async function sendContent(
  response: ServerResponse,
  first: IteratorResult<Uint8Array>,
  parts: AsyncIterator<Uint8Array>,
  signal: AbortSignal,
  rate = RATE,
): Promise<void> {
  let [bytes, waited] = [0, 0];
  let resume = (): void => undefined;
  // Only once: a middleware that compresses adds it to a stream of its own, from which `off` would not remove it.
  response.on('drain', () => resume());
  for (let part = first; !part.done; part = await parts.next()) {
    bytes += part.value.length;
    if (response.write(part.value)) continue;
    const begun = performance.now();
    await waitFor((drained) => (resume = drained), signal, rate.waitMs - waited);
    waited += performance.now() - begun;
    if (waited < rate.waitMs) continue;
    if (bytes < rate.bytes) throw new Error('the client reads less than 256 kB a second');
    [bytes, waited] = [0, 0];
  }
}

/** Resolves when `start` calls its callback, or after a time. Throws the reason of the signal. */
function waitFor(
  start: (callback: () => void) => void,
  signal: AbortSignal,
  milliseconds: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const end = settle(resolve);
    const onAbort = settle(() => reject(signal.reason as Error));
    const timer = setTimeout(end, milliseconds);
    start(end);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
