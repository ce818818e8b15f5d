import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FrameReader } from '../../libs/messages/src/transports/frame-reader.js';
import { TcpServer } from '../../libs/messages/src/transports/tcp.server.js';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import { LOG, refusal } from '../support/requests.js';
import { HELD, HeldTimers } from './held-timers.js';
import { startTcpHost, type TcpHost } from './host.js';
import { framed, RawTcp } from './raw-tcp.js';

const accessToken = 'worker';
const TIMES = { message: HELD, idle: 2 * HELD };
const BODY_LIMIT = 65_536;
const UNAUTHORIZED = refusal('UNAUTHORIZED', 'a valid bearer token is required');
const TOO_SLOW = {
  err: refusal('REQUEST_TIMEOUT', 'the message was not received in time'),
  isDisposed: true,
};

const message = (data: object, id: unknown = '1') =>
  JSON.stringify({ pattern: 'time-log.list.v1', data, id });
const LIST = message({ accessToken });

let host: TcpHost;
let timers: HeldTimers;
const raws: RawTcp[] = [];
beforeAll(async () => {
  timers = new HeldTimers();
  host = await startTcpHost({}, async (app, { url }) => {
    const server = new TcpServer(new URL(url), BODY_LIMIT, TIMES);
    await app.connectMicroservice({ strategy: server }).listen();
  });
});
afterEach(async () => {
  for (const raw of raws.splice(0)) raw.close();
  await host.proxy.close();
  await waitFor();
});
afterAll(async () => {
  await host.close();
  timers.restore();
});

const open = async () => {
  const raw = await RawTcp.open(host.tcpPort);
  raws.push(raw);
  return raw;
};
/** Resolves when the service waits for clients with these limits and no others. */
const waitFor = (...limits: number[]) => eventually(() => expect(timers.delays).toEqual(limits));

describe('a connection over TCP', () => {
  /** Sends some bytes of a message, each when the one before it was read. */
  async function trickle(raw: RawTcp): Promise<void> {
    const add = jest.spyOn(FrameReader.prototype, 'add');
    const bytes = framed(LIST);
    for (let at = 0; at < 5; at++) {
      raw.write(bytes.subarray(at, at + 1));
      await eventually(() => expect(add).toHaveBeenCalledTimes(at + 1));
    }
    add.mockRestore();
  }

  it('whose first message comes too slowly gets an error, and is ended', async () => {
    const raw = await open();
    await waitFor(TIMES.message);
    const begun = timers.begun;
    await trickle(raw);
    expect(timers.begun).toBe(begun);
    timers.end();
    expect(await raw.ended()).toEqual([TOO_SLOW]);
  });

  it('without a valid token has the time of a message after each answer, and no more', async () => {
    const raw = await open();
    for (let i = 0; i < 3; i++) {
      await waitFor(TIMES.message);
      const { begun } = timers;
      expect(await raw.ask(message({ accessToken: 'bad' }))).toMatchObject({ err: UNAUTHORIZED });
      await eventually(() => expect(timers.begun).toBe(begun + 1));
    }
    await waitFor(TIMES.message);
    timers.end();
    expect(await raw.ended()).toEqual([]);
  });

  it('must send a message that it has begun in time, also after a valid token', async () => {
    const raw = await open();
    // It lacks the scope, but is known.
    expect(await raw.ask(message({ accessToken: 'writer' }))).toMatchObject({ err: { error: 'FORBIDDEN' } });
    await waitFor(TIMES.idle);
    const { begun } = timers;
    await trickle(raw);
    await waitFor(TIMES.message);
    expect(timers.begun).toBe(begun + 1);
    timers.end();
    expect(await raw.ended()).toEqual([TOO_SLOW]);
  });

  it('is ended when it rests for too long after a valid token, and a client of Nest opens another', async () => {
    const { proxy, testClient } = host;
    expect(await testClient.record({ accessToken, timeLog: LOG })).toMatchObject({
      answer: { success: true },
    });
    const socket = proxy.unwrap<Socket>();
    await waitFor(TIMES.idle);
    expect(await testClient.list({ accessToken })).toMatchObject({ answer: { success: true } });
    expect(proxy.unwrap<Socket>()).toBe(socket);
    await waitFor(TIMES.idle);
    const ended = once(socket, 'close');
    timers.end();
    await ended;
    expect(await testClient.list({ accessToken })).toMatchObject({ answer: { success: true } });
  });

  it('is not ended while one of its messages is under way', async () => {
    const raw = await open();
    const answer = raw.ask(
      JSON.stringify({ pattern: 'time-log.record.v1', data: { accessToken: 'held', timeLog: LOG }, id: 1 }),
    );
    await host.tokens.asked.opened;
    expect(timers.delays).toEqual([]);
    host.tokens.answered.open();
    expect(await answer).toMatchObject({ id: 1, response: { success: true } });
  });

  it('gets its answers in full where it sends many messages at once, before and after a valid token', async () => {
    const raw = await open();
    const ids = Array.from({ length: 500 }, (_, id) => id);
    const errorOf = (id: number) => (id < 100 ? 'UNAUTHORIZED' : 'FORBIDDEN');
    const tokenOf = (id: number) => (id < 100 ? 'bad' : 'writer');
    raw.write(Buffer.concat(ids.map((id) => framed(message({ accessToken: tokenOf(id) }, id)))));
    const answered: unknown[] = [];
    while (answered.length < ids.length) {
      const answer = await raw.next();
      answered.push(answer?.id);
      expect(answer?.err?.error).toBe(errorOf(Number(answer?.id)));
    }
    expect(answered.sort((a, b) => Number(a) - Number(b))).toEqual(ids);
  });

  const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);

  it.each([
    ['pattern', { err: { error: 'NOT_FOUND' } }],
    ['metadata', { response: { success: true } }],
    ['data', { err: UNAUTHORIZED }],
    ['accessToken', { err: UNAUTHORIZED }],
  ])('gets an answer where its %s is nested 20,000 deep', async (name, answer) => {
    const raw = await open();
    const deep = { [name]: '|' };
    const packet = { pattern: 'time-log.list.v1', id: 1, metadata: {}, data: { accessToken } };
    const text = JSON.stringify(name === 'accessToken' ? { ...packet, data: deep } : { ...packet, ...deep });
    expect(await raw.ask(text.replace('"|"', DEEP))).toMatchObject({ id: 1, ...answer });
  });

  it('is answered up to a mebibyte: without a token it is UNAUTHORIZED, else too large', async () => {
    const raw = await open();
    for (const size of [70_000, 1_048_000]) {
      const large = (token: string) => message({ accessToken: token, query: { from: 'x'.repeat(size) } });
      expect(await raw.ask(large('bad'))).toMatchObject({ id: '1', err: UNAUTHORIZED });
      expect(await raw.ask(large(accessToken))).toMatchObject({
        id: '1',
        err: refusal('PAYLOAD_TOO_LARGE', 'the message must be at most 65536 bytes of JSON'),
      });
    }
    raw.write('1800000#');
    expect(await raw.ended()).toMatchObject([{ err: { error: 'PAYLOAD_TOO_LARGE' } }]);
  });

  it('gets all answers after its client has ended its side, and is ended then', async () => {
    const raw = await open();
    // More than are in flight at once.
    const ids = Array.from({ length: 150 }, (_, id) => id);
    raw.end(Buffer.concat(ids.map((id) => framed(message({ accessToken }, id)))));
    const answers = await raw.ended();
    expect(answers.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual(ids);
    for (const { response } of answers) expect(response).toMatchObject({ success: true });
  });

  it('is ended at once where its client ends its side within a message, or before the first', async () => {
    for (const text of ['', framed(LIST).subarray(0, -1)]) {
      const raw = await open();
      raw.end(text);
      expect(await raw.ended()).toEqual([]);
    }
  });

  it('gets the fault of its JSON after its token was checked', async () => {
    const raw = await open();
    const broken = (token: string) => message({ accessToken: token, query: '|' }).replace('"|"', '[1,]');
    expect(await raw.ask(broken('bad'))).toMatchObject({ id: '1', err: UNAUTHORIZED });
    expect(await raw.ask(broken('writer'))).toMatchObject({ id: '1', err: { error: 'FORBIDDEN' } });
    expect(await raw.ask(broken(accessToken))).toMatchObject({
      id: '1',
      err: refusal('VALIDATION_ERROR', 'the message must be valid JSON'),
    });
    expect(await raw.ask('[')).toEqual({
      err: refusal('VALIDATION_ERROR', 'the message must be valid JSON'),
      isDisposed: true,
    });
  });
});

describe('connections over TCP without a valid token', () => {
  it('are 400 at most: one that was refused gives way to a newcomer, and then the oldest', async () => {
    const known = await open();
    await known.ask(LIST);
    const strangers: RawTcp[] = [];
    while (strangers.length < 400) strangers.push(await open());
    expect(await strangers[50]!.ask(message({ accessToken: 'bad' }))).toMatchObject({ err: UNAUTHORIZED });
    await open();
    expect(await strangers[50]!.ended()).toEqual([]);
    await open();
    expect(await strangers[0]!.ended()).toEqual([]);
    for (const raw of [known, strangers[1]!]) {
      expect(await raw.ask(LIST)).toMatchObject({ response: { success: true } });
    }
  });

  it('hold 16 MB at most: those that hold most are ended, and others are served', async () => {
    const large: RawTcp[] = [];
    for (let i = 0; i < 40; i++) {
      const raw = await open();
      raw.write(`1000000#${'x'.repeat(900_000)}`);
      large.push(raw);
    }
    const small = await open();
    const half = framed(LIST);
    small.write(half.subarray(0, 20));
    let left = 20;
    await new Promise<void>((resolve) => {
      for (const raw of large) void raw.ended().then(() => --left === 0 && resolve());
    });
    small.write(half.subarray(20));
    expect(await small.next()).toMatchObject({ response: { success: true } });
  });
});
