import { parseJson } from './failure.js';
import type { Download } from './http-transport.js';
import { TimeLogError } from './time-log.error.js';
import type { RecordedTimeLog } from './time-logs.js';

/** The parts of an export: an iterator that rejects with TimeLogError if the connection is cut. */
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
): AsyncGenerator<RecordedTimeLog, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield parseLine(line);
  }
  if (rest !== '') throw new TimeLogError('NO_ANSWER', 'the connection ended within a log');
}

function parseLine(line: string): RecordedTimeLog {
  const log = parseJson(line) as RecordedTimeLog | null | undefined;
  if (typeof log?.id === 'string') return log;
  throw new TimeLogError('UNEXPECTED_ANSWER', 'a line of the export is not a log');
}
