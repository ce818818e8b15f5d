import type { NewTimeLog } from './time-logs.js';

/** The maximum number of logs of a request that the service allows. */
const MAX_PART_LOGS = 1_000;
/** The maximum number of bytes of a request, below the 1 MiB that the service allows. */
const MAX_PART_BYTES = 1_000_000;

/** Logs to send together. */
interface Part {
  /** The index of the first log. */
  readonly first: number;
  /** The logs as JSON. */
  readonly texts: readonly string[];
}

/** Splits logs for requests, in the same way whenever they are the same. */
export function* splitLogs(logs: readonly NewTimeLog[]): Generator<Part, void, undefined> {
  const encoder = new TextEncoder();
  let [texts, bytes]: [string[], number] = [[], 0];
  for (const [index, log] of logs.entries()) {
    const text = JSON.stringify(log);
    const size = encoder.encode(text).length + 1;
    if (texts.length === MAX_PART_LOGS || (texts.length > 0 && bytes + size > MAX_PART_BYTES)) {
      yield { first: index - texts.length, texts };
      [texts, bytes] = [[], 0];
    }
    texts.push(text);
    bytes += size;
  }
  if (texts.length > 0) yield { first: logs.length - texts.length, texts };
}
