import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';
import { LargeResponseLimiter } from '../wire/large-response-limiter.js';
import type { JsonList } from '../wire/time-log-bodies.js';
import { sendList } from './send-response.js';

/** A list of 50 kB, in three pieces. */
const LIST: JsonList = {
  before: '[',
  items: Array<string>(120).fill('"'.padEnd(400, 'x') + '"'),
  after: ']',
};

const JOB = {
  limit: 120,
  estimateBytes: async () => 0,
  make: async () => ({ list: LIST, link: '</>; rel="first"' }),
};

/** Returns a response whose client disconnects after this number of pieces. */
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
    await sendList(new LargeResponseLimiter(), {}, responseTo(9, taken), JOB);
    expect(taken).toHaveLength(3);
    expect(taken.join('')).toBe(`[${[...LIST.items].join(',')}]`);
  });

  it.each([0, 1, 2, 3])(
    'releases the memory of its list if the client disconnects after %d pieces',
    async (pieces) => {
      const limiter = new LargeResponseLimiter({ smallBytes: 0, unsentBytesPerCaller: 1 });
      await sendList(limiter, {}, responseTo(pieces), JOB);
      await eventually(async () => {
        const taken: string[] = [];
        await sendList(limiter, {}, responseTo(9, taken), JOB);
        expect(taken).toHaveLength(3);
      });
    },
  );
});
