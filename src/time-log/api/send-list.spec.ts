import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../contract/eventually.js';
import { LargeAnswers } from '../wire/large-answers.js';
import type { JsonList } from '../wire/time-log-json.js';
import { sendList } from './send-list.js';

/** A list of 50 kB, in three pieces. */
const LIST: JsonList = {
  before: '[',
  items: Array<string>(120).fill('"'.padEnd(400, 'x') + '"'),
  after: ']',
};

const LISTING = {
  limit: 120,
  weigh: async () => 0,
  make: async () => ({ list: LIST, link: '</>; rel="first"' }),
};

/** A response whose client is gone when it has taken so many pieces. */
function responseTo(pieces: number, taken: string[] = []): ServerResponse {
  const response = new Writable({
    highWaterMark: 1,
    write(piece, _encoding, done) {
      taken.push(String(piece));
      if (taken.length > pieces) this.destroy();
      else done();
    },
  });
  return Object.assign(response, { writeHead: () => undefined }) as unknown as ServerResponse;
}

describe('sendList', () => {
  it('sends a list in pieces', async () => {
    const taken: string[] = [];
    await sendList(new LargeAnswers(), {}, responseTo(9, taken), LISTING);
    expect(taken).toHaveLength(3);
    expect(taken.join('')).toBe(`[${[...LIST.items].join(',')}]`);
  });

  it.each([0, 1, 2, 3])(
    'frees the room of its list, however many pieces the client takes: %d',
    async (pieces) => {
      const answers = new LargeAnswers({ small: 0, share: 1 });
      await sendList(answers, {}, responseTo(pieces), LISTING);
      await eventually(async () => {
        const taken: string[] = [];
        await sendList(answers, {}, responseTo(9, taken), LISTING);
        expect(taken).toHaveLength(3);
      });
    },
  );
});
