import { parseJson } from './failure.js';
import { TimeLogError } from './time-log.error.js';
import { isLog, type RecordedTimeLog } from './time-logs.js';

const [LINE_FEED, QUOTE] = [10, 34];

/** The parts of an export: an iterator that rejects with TimeLogError if they are incomplete. */
export type Export<Part> = AsyncGenerator<Part, void, undefined> & {
  /**
   * The place of the export in the feed: events after it are later changes. Undefined if the feed
   * has other logs than the export.
   */
  readonly lastEventId: string | undefined;
};
/** The logs of an export. */
export type TimeLogExport = Export<RecordedTimeLog>;

/** Awaits the next part of a response. Rejects with TimeLogError if it does not arrive in time. */
type Receive = <T>(read: () => Promise<T>) => Promise<T>;

/** Returns the export in a response, with the parts of its bytes that `split` yields. */
export function exportOf<Part>(
  response: Response,
  receive: Receive,
  split: (bytes: AsyncIterable<Uint8Array>, headers: Headers) => AsyncGenerator<Part, void, undefined>,
): Export<Part> {
  const { headers, body } = response;
  const reader = body?.getReader();
  // A connection that has failed rejects.
  const close = () => void reader?.cancel().catch(() => undefined);
  async function* readBytes(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      // The fetch of React Native, and polyfills, have texts alone.
      if (!reader) yield new TextEncoder().encode(await receive(() => response.text()));
      else for (let part; !(part = await receive(() => reader.read())).done;) yield part.value;
    } finally {
      close();
    }
  }
  const parts = split(readBytes(), headers);
  const end = parts.return.bind(parts);
  const closeAndEnd = () => {
    // A generator that has not started would not do so.
    close();
    return end();
  };
  return Object.assign(parts, {
    lastEventId: headers.get('last-event-id') ?? undefined,
    return: closeAndEnd,
  });
}

/** Yields the logs in lines of JSON. */
export async function* readLogs(
  bytes: AsyncIterable<Uint8Array>,
  headers: Headers,
): AsyncGenerator<RecordedTimeLog, void, undefined> {
  const decoder = new TextDecoder();
  let [rest, count] = ['', 0];
  for await (const part of bytes) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const log = parseJson(line);
      if (!isLog(log)) throw new TimeLogError('UNEXPECTED_ANSWER', 'a line of the export is not a log');
      yield log;
    }
    count += lines.length;
  }
  requireAll(headers, count, rest === '');
}

/** Yields the parts of a CSV file. */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  headers: Headers,
): AsyncGenerator<Uint8Array, void, undefined> {
  // A field in quotes may contain line breaks (RFC 4180).
  let [records, isQuoted, last] = [0, false, LINE_FEED];
  for await (const part of bytes) {
    for (const byte of part) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (byte === LINE_FEED && !isQuoted) records++;
    }
    last = part.at(-1) ?? last;
    yield part;
  }
  if (records === 0)
    throw new TimeLogError('NO_ANSWER', 'the connection ended before the header of the file');
  requireAll(headers, records - 1, !isQuoted && last === LINE_FEED);
}

/**
 * Throws TimeLogError if the last log is not complete, or for another number of logs than the response has announced:
 * some proxies end it properly when their connection to the service is cut. Earlier versions of the service announce
 * none.
 */
function requireAll(headers: Headers, count: number, isComplete: boolean): void {
  if (!isComplete) throw new TimeLogError('NO_ANSWER', 'the connection ended within a log');
  const total = headers.get('x-total-count');
  if (total === null || Number(total) === count) return;
  throw new TimeLogError(
    'NO_ANSWER',
    `the export has ${count} of ${total} logs: its connection was cut; export again`,
  );
}
