import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BigLists } from './big-lists.js';
import type { JsonList } from '../wire/time-log-json.js';

/** A page whose JSON takes more than 10 MB. */
const PAGE: JsonList = { before: '[', items: [JSON.stringify('x'.repeat(10 * 1024 * 1024))], after: ']' };

/** A response whose client is gone when it has taken so many pieces. */
function responseTo(pieces: number): ServerResponse {
  let taken = 0;
  const response = new Writable({
    highWaterMark: 1,
    write(_piece, _encoding, done) {
      if (++taken > pieces) this.destroy();
      else done();
    },
  });
  return Object.assign(response, { setHeader: () => undefined }) as unknown as ServerResponse;
}

describe('BigLists', () => {
  it.each([0, 1, 2, 3])('makes lists on, however many clients are gone after %d pieces', async (pieces) => {
    const lists = new BigLists();
    for (let client = 0; client < 20; client++)
      await lists.send({}, responseTo(pieces), () => Promise.resolve(PAGE));
    let isMade = false;
    const make = () => Promise.resolve((isMade = true)).then(() => PAGE);
    await Promise.race([
      lists.send({}, responseTo(9), make),
      new Promise((resolve) => setTimeout(resolve, 2_000)),
    ]);
    expect(isMade).toBe(true);
  });
});
