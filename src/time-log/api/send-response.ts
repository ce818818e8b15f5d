import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ResponseChannel, withinDeadline } from '../../../libs/strict-request/src/index.js';
import { entityTagOf } from '../domain/entity-tag.js';
import type { TimeLog } from '../domain/time-log.js';
import {
  type LargeResponseLimiter,
  MAX_SMALL_LIST_ITEMS,
  type ReportBytes,
  type ResponseJob,
} from '../wire/large-response-limiter.js';
import { type JsonList, jsonListText, logJson } from '../wire/time-log-bodies.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The number of items of a piece, which take up to 5 milliseconds with the longest descriptions. */
const ITEMS_PER_PIECE = 50;

/** Ends the response with JSON, without the Buffer that Express would copy it into. */
export function sendJson(response: ServerResponse, status: number, json: string, type = JSON_TYPE): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  const length = Buffer.byteLength(json);
  response.setHeader('Content-Length', length);
  // Equal lengths mean that all characters are ASCII. latin1 has the same bytes and needs no encoder.
  response.end(json, length === json.length ? 'latin1' : 'utf8');
}

/** Sends a log with the entity tag of its version. */
export function sendLog(response: ServerResponse, status: number, log: TimeLog): void {
  response.setHeader('ETag', entityTagOf(log));
  sendJson(response, status, logJson(log));
}

/** A job that makes a list. */
export interface ListJob extends Pick<ResponseJob<unknown>, 'estimateBytes'> {
  /** The maximum number of items. */
  readonly limit: number;
  /** Returns the list and its `Link` header. */
  readonly make: () => Promise<{ readonly list: JsonList; readonly link: string }>;
  readonly type?: string;
}

/** Sends a list. Throws what the job throws and, if the list may be large, what LargeResponseLimiter throws. */
export async function sendList(
  limiter: LargeResponseLimiter,
  request: object,
  response: ServerResponse,
  job: ListJob,
): Promise<void> {
  if (job.limit > MAX_SMALL_LIST_ITEMS) {
    await sendInPieces(limiter, request, response, job);
    return;
  }
  const { list, link } = await withinDeadline(request, job.make());
  response.setHeader('Link', link);
  sendJson(response, 200, jsonListText(list), job.type);
}

/** Makes a list in pieces, so that other work can run in between, and sends them as fast as the client reads. */
async function sendInPieces(
  limiter: LargeResponseLimiter,
  request: object,
  response: ServerResponse,
  { estimateBytes, make, type = JSON_TYPE }: ListJob,
): Promise<void> {
  const made = await limiter.make(request, responseChannelOf(response), {
    estimateBytes,
    make: async (reportBytes) => {
      const { list, link } = await make();
      return { link, pieces: await makePieces(list, reportBytes) };
    },
  });
  if (!made) return;
  const { link, pieces } = made;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(200, { Link: link, 'Content-Type': type, 'Content-Length': length });
  // The access log reports a client that has disconnected.
  await pipeline(Readable.from(drain(pieces)), response).catch(() => undefined);
}

function responseChannelOf(response: ServerResponse): ResponseChannel {
  return {
    isClosed: () => response.destroyed,
    sent: async () => response.closed || once(response, 'close'),
    close: () => response.destroy(),
  };
}

async function makePieces({ before, items, after }: JsonList, reportBytes: ReportBytes): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  const add = (text: string) => {
    const piece = Buffer.from(text);
    pieces.push(piece);
    reportBytes(piece.length);
  };
  let [text, count] = [before, 0];
  for (const item of items) {
    text += count === 0 ? item : `,${item}`;
    if (++count % ITEMS_PER_PIECE > 0) continue;
    add(text);
    text = '';
    await nextTurn();
  }
  add(text + after);
  return pieces;
}

/** Yields the pieces and drops the references to them. */
function* drain(pieces: Buffer[]): Generator<Buffer> {
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) yield piece;
}
