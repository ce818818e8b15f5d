/** Milliseconds for the whole answer. A request that has less time gives up alone, and the answer serves those that follow. */
const PATIENCE = 2_000;
/** Bytes of an answer, decompressed; a set of keys has some thousand. */
const LARGEST = 262_144;

/**
 * Gets the JSON at a URL, within bounds of time and size. A redirect is not followed: it could lead anywhere.
 * Throws an Error whose message tells a person why there is none, and holds nothing of the answer.
 */
export async function fetchJson(url: string): Promise<unknown> {
  try {
    return parse(await fetchText(url));
  } catch (error) {
    throw new Error(reasonOf(error as Error), { cause: error });
  }
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Refused(`the answer is ${response.status}, not 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > LARGEST) throw new Refused(`the answer has more than ${LARGEST} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused('the answer is no JSON');
  }
}

/** An answer that is not taken. */
class Refused extends Error {}

function reasonOf(error: Error): string {
  if (error instanceof Refused) return error.message;
  if (error.name === 'TimeoutError') return `no answer within ${PATIENCE} ms`;
  // What happened to the connection is in the cause; fetch itself says no more than that it failed.
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
