import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { newGate } from '../../../test/support/gate.js';
import { LargeLists } from './large-lists.js';
import type { JsonList } from './time-log-bodies.js';
import { sendList } from './send-response.js';

const LINK = '</>; rel="first"';
/** A list of 50 kB, in three pieces. */
const LIST: JsonList = {
  before: '[',
  items: Array<string>(120).fill('"'.padEnd(400, 'é') + '"'),
  after: ']',
};
const TEXT = `[${[...LIST.items].join(',')}]`;

/** Returns a response that records what it gets. */
function newResponse() {
  const taken: string[] = [];
  const heads: unknown[] = [];
  const response = new Writable({
    write(piece, _encoding, done) {
      taken.push(String(piece));
      done();
    },
  });
  const writeHead = (...head: unknown[]) => void heads.push(head);
  return { taken, heads, response: Object.assign(response, { writeHead }) as unknown as ServerResponse };
}

describe('sendList', () => {
  it('sends a large list in pieces', async () => {
    const { taken, heads, response } = newResponse();
    const make = async () => ({ list: LIST, link: LINK });
    await sendList(new LargeLists(2_500, false), {}, response, { limit: 120, make });
    expect(taken).toHaveLength(3);
    expect(taken.join('')).toBe(TEXT);
    const headers = {
      Link: LINK,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(TEXT),
    };
    expect(heads).toEqual([[200, headers]]);
  });

  it('lets other work run while it forms a large list', async () => {
    const { taken, response } = newResponse();
    const seen: number[] = [];
    const make = async () => {
      setImmediate(() => seen.push(taken.length));
      return { list: LIST, link: LINK };
    };
    await sendList(new LargeLists(2_500, false), {}, response, { limit: 120, make });
    expect(seen).toEqual([0]);
  });

  it.each([
    [false, 100],
    [true, 20],
  ])('forms two large lists at a time (with attributes: %s, more than %d)', async (haveAttributes, limit) => {
    const lists = new LargeLists(60_000, haveAttributes);
    const gate = newGate();
    let made = 0;
    const send = (items: number) => {
      const make = async () => {
        made++;
        await gate.opened;
        return { list: LIST, link: LINK };
      };
      const { response } = newResponse();
      Object.assign(response, { setHeader: () => undefined });
      return sendList(lists, {}, response, { limit: items, make });
    };
    const sent = [limit + 1, limit + 1, limit + 1, limit, limit, limit].map(send);
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBe(5);
    gate.open();
    await Promise.all(sent);
    expect(made).toBe(6);
  });
});
