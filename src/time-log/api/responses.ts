import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { callerOf } from '../../../libs/auth/src/index.js';
import { Limit } from '../../../libs/batching/src/index.js';
import { withinDeadline } from '../../../libs/request-state/src/index.js';
import { entityTagOf } from '../domain/fingerprints.js';
import type { TimeLogItem, TimeLogItems } from '../domain/time-log-item.js';
import type { PageRequest } from '../domain/time-log-query.js';
import { createdAtOf, isoText, type StoredTimeLog, type TimeLog, VALUE_NAMES } from '../domain/time-log.js';
import { WAIT_SHARE } from '../time-log.limits.js';

/** A log in a response: every field and `createdAt`. */
export type TimeLogBody = StoredTimeLog & Pick<TimeLogItem, 'createdAt'>;

/** The body of a response with a page of logs. */
export interface TimeLogListResponse {
  readonly success: true;
  readonly data: readonly TimeLogItem[];
  readonly meta: { readonly total: number; readonly page: number; readonly limit: number };
}

/** The body of a response with one log. */
interface TimeLogResponse {
  readonly success: true;
  readonly data: TimeLogBody;
}

/** Returns the documented fields of a log. */
export function bodyOf(log: TimeLog): TimeLogBody {
  const body: Record<string, unknown> = { id: log.id };
  for (const name of VALUE_NAMES) if (log[name] !== undefined) body[name] = log[name];
  body.createdAt = isoText(createdAtOf(log.id));
  return body as unknown as TimeLogBody;
}

/** Returns the response body of a page of items. */
export function itemsResponse({ items, total }: TimeLogItems, page: PageRequest): TimeLogListResponse {
  const data = Array.from(items, (item) => JSON.parse(item) as TimeLogItem);
  return { success: true, data, meta: metaOf(total, page) };
}

/** Returns the `meta` of a list. */
export function metaOf(total: number, { number, limit }: PageRequest): TimeLogListResponse['meta'] {
  return { total, page: number, limit };
}

/** Returns the response body of one log. */
export function logResponse(log: TimeLog): TimeLogResponse {
  return { success: true, data: bodyOf(log) };
}

/** A JSON array that is written item by item, and the text around it. */
export interface JsonList {
  readonly before: string;
  readonly items: Iterable<string>;
  readonly after: string;
}

/** Returns the JSON of the response body of a batch. */
export function logsJson(logs: readonly TimeLog[]): string {
  return JSON.stringify({ success: true, data: logs.map(bodyOf) });
}

/** Returns the JSON of `itemsResponse`. */
export function listJson({ items, total }: TimeLogItems, page: PageRequest): JsonList {
  return {
    before: '{"success":true,"data":[',
    items,
    after: `],"meta":${JSON.stringify(metaOf(total, page))}}`,
  };
}

/** Returns the JSON of a small list as one text. */
function jsonListText({ before, items, after }: JsonList): string {
  let text = before;
  let separator = '';
  for (const item of items) {
    text += separator + item;
    separator = ',';
  }
  return text + after;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The number of items of a piece, which take up to 5 milliseconds with the longest descriptions. */
const ITEMS_PER_PIECE = 50;

/** Ends the response with JSON and all headers at once, without the Buffer that Express would copy it into. */
export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const length = Buffer.byteLength(json);
  const common: OutgoingHttpHeaders = { 'Content-Type': JSON_TYPE, 'Content-Length': length };
  response.writeHead(status, Object.assign(common, headers));
  // Equal lengths mean that all characters are ASCII. latin1 has the same bytes and needs no encoder.
  response.end(json, length === json.length ? 'latin1' : 'utf8');
}

/** Sends a log with the entity tag of its version. */
export function sendLog(
  response: ServerResponse,
  status: number,
  log: TimeLog,
  headers: OutgoingHttpHeaders = {},
): void {
  sendJson(
    response,
    status,
    JSON.stringify(logResponse(log)),
    Object.assign({ ETag: entityTagOf(log) }, headers),
  );
}

/** The maximum number of items of a list that is not large. 100 of the longest descriptions are 2 MB. */
const MAX_SMALL_LIST_ITEMS = 100;
/** The same if logs have attributes. 20 of the largest are 1.3 MB. */
const MAX_SMALL_LIST_ITEMS_WITH_ATTRIBUTES = 20;
/** The number of large lists that are formed at a time: 1000 of the longest descriptions are 20 MB. */
const CONCURRENT_LARGE_LISTS = 2;

/** Limits the large lists that are formed at a time, for requests and messages together. */
export class LargeLists {
  private readonly limit: Limit;
  private readonly maxSmallItems: number;

  /** `deadline` is that of a request in milliseconds. */
  constructor(deadline: number, haveAttributes: boolean) {
    this.limit = new Limit(() => CONCURRENT_LARGE_LISTS, WAIT_SHARE * deadline);
    this.maxSmallItems = haveAttributes ? MAX_SMALL_LIST_ITEMS_WITH_ATTRIBUTES : MAX_SMALL_LIST_ITEMS;
  }

  /** Returns whether a list with this maximum number of items is large. */
  isLarge(limit: number): boolean {
    return limit > this.maxSmallItems;
  }

  /** Forms a large list for a caller. Throws DomainError SERVICE_UNAVAILABLE if it waits too long. */
  form<T>(caller: string | undefined, list: () => Promise<T>): Promise<T> {
    return this.limit.run(caller, list);
  }
}

/** A job that makes a list. */
export interface ListJob {
  /** The maximum number of items. */
  readonly limit: number;
  /** Returns the list and its `Link` header. */
  readonly make: () => Promise<{ readonly list: JsonList; readonly link: string }>;
  readonly type?: string;
}

/** Sends a list. Throws what the job throws and, if the list is large, what LargeLists throws. */
export async function sendList(
  lists: LargeLists,
  request: object,
  response: ServerResponse,
  { limit, make, type = JSON_TYPE }: ListJob,
): Promise<void> {
  if (!lists.isLarge(limit)) {
    const { list, link } = await withinDeadline(request, make());
    sendJson(response, 200, jsonListText(list), { Link: link, 'Content-Type': type });
    return;
  }
  const formed = lists.form(callerOf(request)?.id, async () => {
    const { list, link } = await make();
    return { link, pieces: await piecesOf(list) };
  });
  const { link, pieces } = await withinDeadline(request, formed);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(200, { Link: link, 'Content-Type': type, 'Content-Length': length });
  for (const piece of pieces) response.write(piece);
  response.end();
}

/** Returns the JSON of a list in pieces, between which other requests run. */
async function piecesOf({ before, items, after }: JsonList): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let [text, count] = [before, 0];
  for (const item of items) {
    text += count === 0 ? item : `,${item}`;
    if (++count % ITEMS_PER_PIECE > 0) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await nextIteration();
  }
  return [...pieces, Buffer.from(text + after)];
}

/** Returns the `Location` of a log that a request has created, relative to the path of the request. */
export function locationOf({ originalUrl }: { readonly originalUrl: string }, id: string): string {
  const [path] = originalUrl.split('?', 1) as [string];
  const segment = path.slice(path.lastIndexOf('/') + 1);
  if (segment === '') return id;
  // The first segment of a relative reference must not look like a scheme (RFC 3986, section 4.2).
  return `${segment.includes(':') ? './' : ''}${segment}/${id}`;
}
