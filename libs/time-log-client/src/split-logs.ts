import type { NewTimeLog } from './time-logs.js';

/** The maximum number of logs of a request that the service allows. */
const MAX_PART_LOGS = 1_000;
/** The maximum number of bytes of a request, below the 1 MiB that the service allows. */
const MAX_PART_BYTES = 1_000_000;

/** Logs to send together, and the index of the first. */
interface Part {
  readonly first: number;
  readonly part: NewTimeLog[];
}

/** Splits logs for requests, in the same way whenever they are the same. */
export function* splitLogs(logs: readonly NewTimeLog[]): Generator<Part, void, undefined> {
  const encoder = new TextEncoder();
  let [part, bytes]: [NewTimeLog[], number] = [[], 0];
  for (const [index, log] of logs.entries()) {
    const size = encoder.encode(JSON.stringify(log)).length + 1;
    if (part.length === MAX_PART_LOGS || (part.length > 0 && bytes + size > MAX_PART_BYTES)) {
      yield { first: index - part.length, part };
      [part, bytes] = [[], 0];
    }
    part.push(log);
    bytes += size;
  }
  if (part.length > 0) yield { first: logs.length - part.length, part };
}
