import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ResponseChannel, withinDeadline } from '../../../libs/strict-request/src/index.js';
import type { Grow, LargeAnswers, Making } from '../wire/large-answers.js';
import { type JsonList, textOf } from '../wire/time-log-json.js';
import { JSON_TYPE, sendJson } from './send-json.js';

/** Items that are written without a pause: with the longest descriptions some 5 milliseconds. */
const SLICE = 50;

/** A list that was asked for. */
export interface Listing extends Pick<Making<unknown>, 'weigh'> {
  /** The most items that it has. */
  readonly limit: number;
  /** The list, and the header that leads on from it. */
  readonly make: () => Promise<{ readonly list: JsonList; readonly link: string }>;
  readonly type?: string;
}

/** Answers with a list. Throws what its making throws, and like LargeAnswers where it may be large. */
export async function sendList(
  answers: LargeAnswers,
  request: object,
  response: ServerResponse,
  listing: Listing,
): Promise<void> {
  if (answers.mayBeLarge(listing.limit)) {
    await sendInPieces(answers, request, response, listing);
    return;
  }
  const { list, link } = await withinDeadline(request, listing.make());
  response.setHeader('Link', link);
  sendJson(response, 200, textOf(list), listing.type);
}

/** Other work runs between the pieces. They go out as the client takes them, until it gives up. */
async function sendInPieces(
  answers: LargeAnswers,
  request: object,
  response: ServerResponse,
  { weigh, make, type = JSON_TYPE }: Listing,
): Promise<void> {
  const made = await answers.make(request, outletOf(response), {
    weigh,
    make: async (grow) => {
      const { list, link } = await make();
      return { link, pieces: await piecesOf(list, grow) };
    },
  });
  if (!made) return;
  const { link, pieces } = made;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(200, { Link: link, 'Content-Type': type, 'Content-Length': length });
  // The access log reports a client that is gone.
  await pipeline(Readable.from(leaving(pieces)), response).catch(() => undefined);
}

function outletOf(response: ServerResponse): ResponseChannel {
  return {
    isClosed: () => response.destroyed,
    sent: async () => response.closed || once(response, 'close'),
    close: () => response.destroy(),
  };
}

async function piecesOf({ before, items, after }: JsonList, grow: Grow): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  const add = (text: string) => {
    const piece = Buffer.from(text);
    pieces.push(piece);
    grow(piece.length);
  };
  let [text, count] = [before, 0];
  for (const item of items) {
    text += count === 0 ? item : `,${item}`;
    if (++count % SLICE > 0) continue;
    add(text);
    text = '';
    await nextTurn();
  }
  add(text + after);
  return pieces;
}

/** Nothing keeps a piece that has left. */
function* leaving(pieces: Buffer[]): Generator<Buffer> {
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) yield piece;
}
