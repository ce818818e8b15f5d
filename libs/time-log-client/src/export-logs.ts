import { parseJson } from './failure.js';
import type { Download } from './http-transport.js';
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

/** Yields the bytes of a download, and closes it at the end. */
export async function* iterateBytes(
  { read, close }: Download,
  receive: <T>(read: () => Promise<T>) => Promise<T>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let bytes; (bytes = await receive(read)) !== undefined;) yield bytes;
  } finally {
    close();
  }
}

/** Makes an export of parts. A generator that has not started would not close the download. */
export function exportOf<Part>(
  parts: AsyncGenerator<Part, void, undefined>,
  { headers, close }: Download,
): Export<Part> {
  const end = parts.return.bind(parts);
  const closeAndEnd = () => {
    close();
    return end();
  };
  return Object.assign(parts, {
    lastEventId: headers.get('last-event-id') ?? undefined,
    return: closeAndEnd,
  });
}

/** Yields the logs in lines of JSON. */
export async function* iterateLines(
  parts: AsyncIterable<Uint8Array>,
  { headers }: Pick<Download, 'headers'>,
): AsyncGenerator<RecordedTimeLog, void, undefined> {
  const decoder = new TextDecoder();
  let [rest, count] = ['', 0];
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield parseLine(line);
    count += lines.length;
  }
  if (rest !== '') throw endedWithinLog();
  requireTotal(headers, count);
}

/** Yields the parts of a CSV file. */
export async function* iterateCsv(
  parts: AsyncIterable<Uint8Array>,
  { headers }: Pick<Download, 'headers'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  // A field in quotes may contain line breaks (RFC 4180).
  let [records, isQuoted, last] = [0, false, LINE_FEED];
  for await (const part of parts) {
    for (const byte of part) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (byte === LINE_FEED && !isQuoted) records++;
    }
    last = part.at(-1) ?? last;
    yield part;
  }
  if (records === 0)
    throw new TimeLogError('NO_ANSWER', 'the connection ended before the header of the file');
  if (isQuoted || last !== LINE_FEED) throw endedWithinLog();
  requireTotal(headers, records - 1);
}

function endedWithinLog(): TimeLogError {
  return new TimeLogError('NO_ANSWER', 'the connection ended within a log');
}

/**
 * Throws TimeLogError for another number of logs than the response has announced: some proxies end it properly when
 * their connection to the service is cut. Earlier versions of the service announce none.
 */
function requireTotal(headers: Headers, count: number): void {
  const total = headers.get('x-total-count');
  if (total === null || Number(total) === count) return;
  throw new TimeLogError(
    'NO_ANSWER',
    `the export has ${count} of ${total} logs: its connection was cut; export again`,
  );
}

function parseLine(line: string): RecordedTimeLog {
  const log = parseJson(line);
  if (isLog(log)) return log;
  throw new TimeLogError('UNEXPECTED_ANSWER', 'a line of the export is not a log');
}
