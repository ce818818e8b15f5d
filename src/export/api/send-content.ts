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
  for (let part = first; !part.done; part = await parts.next()) {
    bytes += part.value.length;
    if (response.write(part.value)) continue;
    const begun = performance.now();
    await drained(response, signal, rate.waitMs - waited);
    waited += performance.now() - begun;
    if (waited < rate.waitMs) continue;
    if (bytes < rate.bytes) throw new Error('the client reads less than 256 kB a second');
    [bytes, waited] = [0, 0];
  }
}

/** Resolves when a client has read, or after a time. Throws the reason of the signal. */
function drained(response: ServerResponse, signal: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => () => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onDrain = settle(resolve);
    const onAbort = settle(() => reject(signal.reason as Error));
    const timer = setTimeout(onDrain, milliseconds);
    response.once('drain', onDrain);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
