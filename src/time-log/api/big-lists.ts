import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { withinDeadline } from '../../../libs/strict-request/src/index.js';
import type { Page } from '../domain/page.js';
import type { JsonList } from '../wire/time-log-json.js';
import { JSON_TYPE } from './send-json.js';

/** A page with more logs is big. 100 of the longest descriptions are 2 MB, 1000 are 20 MB. */
const BIG = 100;
/** The most bytes of big lists that may wait for their clients. Above it no further list is begun. */
const UNSENT_LIMIT = 128 * 1024 * 1024;
/** Items that are written without a pause: with the longest descriptions some 5 milliseconds. */
const SLICE = 50;

/**
 * Makes big lists one after the other, and only while their waiting bytes are below a limit. Other work of the process
 * runs between the slices of a list, and memory does not grow with the number of clients.
 */
@Injectable()
export class BigLists {
  private unsent = 0;
  private isBusy = false;
  private readonly waiting: (() => void)[] = [];

  /** Whether `send` or `whole` must be used for a page. */
  isBig({ limit }: Pick<Page, 'limit'>): boolean {
    return limit > BIG;
  }

  /**
   * Answers with a list when its turn comes. Throws what `make` throws, and DomainError SERVICE_UNAVAILABLE where it
   * takes longer than the deadline of the request. Stops when the client gives up.
   */
  async send(
    request: object,
    response: ServerResponse,
    make: () => Promise<JsonList>,
    type = JSON_TYPE,
  ): Promise<void> {
    await this.takeTurn(request);
    if (response.destroyed) {
      this.next();
      return;
    }
    const made = this.take(make);
    const pieces = await withinDeadline(request, made).catch((error: unknown) => {
      made.then(
        (late) => this.forget(late),
        () => undefined,
      );
      throw error;
    });
    response.statusCode = 200;
    response.setHeader('Content-Type', type);
    response.setHeader('Content-Length', lengthOf(pieces));
    // The access log reports a client that is gone.
    await pipeline(Readable.from(this.sending(pieces)), response).catch(() => undefined);
    this.forget(pieces);
  }

  /**
   * Makes a list for an answer that cannot be sent in pieces, when its turn comes. Throws what `make` throws, and
   * DomainError SERVICE_UNAVAILABLE where the turn does not come within the deadline of the request.
   */
  async whole<T>(request: object, make: () => Promise<T>): Promise<T> {
    await this.takeTurn(request);
    try {
      return await make();
    } finally {
      // Nest hands the answer over in the ticks before this, where nothing else of the app waits.
      setImmediate(() => this.next());
    }
  }

  /** Resolves when a list may be made. Rejects at the deadline of the request, and then takes no turn. */
  private async takeTurn(request: object): Promise<void> {
    const turn = this.turn();
    await withinDeadline(request, turn).catch((error: unknown) => {
      void turn.then(() => this.next());
      throw error;
    });
  }

  /** Makes a list. Its turn ends when the list is made, even if nobody waits for it any more. */
  private async take(make: () => Promise<JsonList>): Promise<Buffer[]> {
    try {
      const pieces = await piecesOf(await make());
      this.unsent += lengthOf(pieces);
      return pieces;
    } finally {
      this.next();
    }
  }

  /** Resolves when a list may be made. Then call `next` when it is made. */
  private turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (!this.isBusy) this.next();
    });
  }

  private next(): void {
    this.isBusy = this.unsent < UNSENT_LIMIT && this.waiting.length > 0;
    // The newest comes first. Under overload the oldest has waited too long and could not be answered in time.
    if (this.isBusy) this.waiting.pop()!();
  }

  /** Yields the pieces one by one, as the client takes them. */
  private *sending(pieces: Buffer[]): Generator<Buffer> {
    for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
      try {
        yield piece;
      } finally {
        // Also where the client is gone: then this is its end.
        this.forget([piece]);
      }
    }
  }

  private forget(pieces: readonly Buffer[]): void {
    this.unsent -= lengthOf(pieces);
    if (!this.isBusy) this.next();
  }
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The JSON of a list in UTF-8. Other work runs between two slices. */
async function piecesOf({ before, items, after }: JsonList): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let [text, count] = [before, 0];
  for (const item of items) {
    text += count === 0 ? item : `,${item}`;
    if (++count % SLICE > 0) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await nextTurn();
  }
  pieces.push(Buffer.from(text + after));
  return pieces;
}
