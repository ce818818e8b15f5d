import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { callerOf } from '../../../libs/auth/src/index.js';
import { withinDeadline } from '../../../libs/request-state/src/index.js';
import { entityTagOf } from '../domain/fingerprints.js';
import type { TimeLogItem, TimeLogItems } from '../domain/time-log-item.js';
import type { PageRequest, TimeLogFilter } from '../domain/time-log-query.js';
import { createdAtOf, isoText, type StoredTimeLog, type TimeLog, VALUE_NAMES } from '../domain/time-log.js';
import type { LargeLists } from './large-requests.js';

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

/** Returns the JSON of `logResponse`. */
function logJson(log: TimeLog): string {
  return JSON.stringify(logResponse(log));
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

/**
 * Ends the response with JSON and all headers at once, without the Buffer that Express would copy it into. Completes
 * the given headers: V8 copies an object with `...` slowly.
 */
export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const length = Buffer.byteLength(json);
  headers['Content-Type'] ??= JSON_TYPE;
  headers['Content-Length'] = length;
  response.writeHead(status, headers);
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
  headers.ETag = entityTagOf(log);
  sendJson(response, status, logJson(log), headers);
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

/** The filter of a list, or the filter and grouping of totals. */
interface PageFilter extends TimeLogFilter {
  readonly by?: string | undefined;
}

/** The maximum size of the header. Node.js takes at most 16 KiB of headers, and filters can be long texts. */
const MAX_LENGTH = 15_500;
/** The links that a header leaves out if it is too long, in this order. One alone always fits. */
const LESS_NEEDED = ['first', 'last', 'prev'];

/**
 * Returns the `Link` header (RFC 8288) with the first, previous, next and last page for the same
 * filter. Its targets are queries alone, because a proxy may have removed a prefix of the path.
 */
export function pageLinks(
  { projectIds, period, attributes = {}, by }: PageFilter,
  page: PageRequest,
  total: number,
): string {
  const last = Math.max(1, Math.ceil(total / page.limit));
  let links: [relation: string, number: number][] = [['first', 1]];
  if (page.number > 1) links.push(['prev', Math.min(page.number - 1, last)]);
  if (page.number < last) links.push(['next', page.number + 1]);
  links.push(['last', last]);

  let filter = '';
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) filter += `${name}=${value}&`;
  };
  add('projectId', projectIds?.join());
  add('from', period.from);
  add('to', period.to);
  for (const [name, value] of Object.entries(attributes))
    add(`attributes.${name}`, encodeURIComponent(String(value)));
  add('by', by);
  const link = ([relation, number]: (typeof links)[number]) =>
    `<?${filter}page=${number}&limit=${page.limit}>; rel="${relation}"`;
  let header = links.map(link).join(', ');
  for (const unneeded of LESS_NEEDED) {
    if (header.length <= MAX_LENGTH || links.length === 1) break;
    links = links.filter(([relation]) => relation !== unneeded);
    header = links.map(link).join(', ');
  }
  return header;
}

/** Returns the `Location` of a log that a request has created, relative to the path of the request. */
export function locationOf({ originalUrl }: { readonly originalUrl: string }, id: string): string {
  const [path] = originalUrl.split('?', 1) as [string];
  const segment = path.slice(path.lastIndexOf('/') + 1);
  if (segment === '') return id;
  // The first segment of a relative reference must not look like a scheme (RFC 3986, section 4.2).
  return `${segment.includes(':') ? './' : ''}${segment}/${id}`;
}
