import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { TcpServer } from '../../libs/messages/src/transports/tcp.server.js';
import { LOG, refusal } from '../support/requests.js';
import { unusedPort } from '../support/unused-port.js';
import { overTransport } from './doors.js';
import { type MessageHost, startMessageHost } from './host.js';
import { framed, RawTcp } from './raw-tcp.js';

const host = '127.0.0.1';
const accessToken = 'worker';
/** Milliseconds. */
const TIMES = { message: 600, rest: 5_000 };
const BODY_LIMIT = 65_536;
const UNAUTHORIZED = refusal('UNAUTHORIZED', 'a valid bearer token is required');
const TOO_SLOW = {
  err: refusal('REQUEST_TIMEOUT', 'the message was not received in time'),
  isDisposed: true,
};

const message = (data: object, id: unknown = '1') =>
  JSON.stringify({ pattern: 'time-log.list.v1', data, id });
const LIST = message({ accessToken });

/** A host for the tests of a `describe`, whose connections have these times. What a test opens is closed after it. */
function hostWith(times: typeof TIMES) {
  let port: number;
  let service: MessageHost;
  const raws: RawTcp[] = [];

  beforeAll(async () => {
    port = await unusedPort();
    service = await startMessageHost(`tcp://${host}:${port}`, async (app, { url }) => {
      const server = new TcpServer(new URL(url), BODY_LIMIT, times);
      await app.connectMicroservice({ strategy: server }).listen();
    });
  });
  afterEach(() => {
    for (const raw of raws.splice(0)) raw.close();
  });
  afterAll(() => service.close());

  return {
    port: () => port,
    tokens: () => service.tokens,
    open: async () => {
      const raw = await RawTcp.open(port);
      raws.push(raw);
      return raw;
    },
  };
}

describe('a connection over TCP', () => {
  const { port, tokens, open } = hostWith(TIMES);

  /** Milliseconds until the service ends a connection, with its last words. */
  async function endOf(raw: RawTcp): Promise<[time: number, last: unknown]> {
    const begun = performance.now();
    const last = await raw.ended();
    return [performance.now() - begun, last];
  }

  /** Sends a byte now and then for as long as the connection is open. */
  async function trickle(raw: RawTcp, bytes: Buffer): Promise<[time: number, last: unknown]> {
    let at = 0;
    const dripping = setInterval(() => raw.write(bytes.subarray(at, ++at)), TIMES.message / 10);
    return endOf(raw).finally(() => clearInterval(dripping));
  }

  it('without a message is ended in the time for one', async () => {
    const [time, last] = await endOf(await open());
    expect(time).toBeGreaterThan(TIMES.message / 2);
    expect(time).toBeLessThan(TIMES.rest);
    expect(last).toEqual([]);
  });

  it('whose message comes too slowly is told so, and ended', async () => {
    const [time, last] = await trickle(await open(), framed(message({ accessToken: 'x'.repeat(200) })));
    expect(time).toBeLessThan(TIMES.rest);
    expect(last).toEqual([TOO_SLOW]);
  });

  it('without a valid token has the time of a message after each answer, and no more', async () => {
    const raw = await open();
    for (let i = 0; i < 5; i++) {
      await delay(TIMES.message / 3);
      expect(await raw.ask(message({ accessToken: 'bad' }))).toMatchObject({ err: UNAUTHORIZED });
    }
    const [time, last] = await endOf(raw);
    expect(time).toBeLessThan(TIMES.rest);
    expect(last).toEqual([]);
  });

  it('may rest between messages after a valid token, and is ended when it rests for too long', async () => {
    const raw = await open();
    // It lacks the scope, but is known.
    expect(await raw.ask(message({ accessToken: 'writer' }))).toMatchObject({ err: { error: 'FORBIDDEN' } });
    await delay(2 * TIMES.message);
    expect(await raw.ask(LIST)).toMatchObject({ response: { success: true } });
    const [time, last] = await endOf(raw);
    expect(time).toBeGreaterThan(TIMES.rest / 2);
    expect(last).toEqual([]);
  });

  it('must send a message that it has begun in time, also after a valid token', async () => {
    const raw = await open();
    await raw.ask(LIST);
    const [time, last] = await trickle(raw, framed(message({ accessToken: 'x'.repeat(200) })));
    expect(time).toBeLessThan(TIMES.rest);
    expect(last).toEqual([TOO_SLOW]);
  });

  it('of a client of Nest goes on after every rest, however long', async () => {
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host, port: port() } });
    const door = overTransport(client);
    const socketOf = () => client.unwrap<Socket>();
    // Before its first message, after less than it may rest, and after more.
    await client.connect();
    await once(socketOf(), 'close');
    expect(await door.record({ accessToken, timeLog: LOG })).toMatchObject({ answer: { success: true } });
    const socket = socketOf();
    await delay(2 * TIMES.message);
    expect(await door.list({ accessToken })).toMatchObject({ answer: { success: true } });
    expect(socketOf()).toBe(socket);
    await once(socket, 'close');
    expect(await door.list({ accessToken })).toMatchObject({ answer: { success: true } });
    expect(socketOf()).not.toBe(socket);
    client.close();
  });

  it('is not ended while one of its messages is under way', async () => {
    const raw = await open();
    const answer = raw.ask(
      JSON.stringify({ pattern: 'time-log.record.v1', data: { accessToken: 'held', timeLog: LOG }, id: 1 }),
    );
    await tokens().asked.opened;
    await delay(2 * TIMES.message);
    tokens().answered.open();
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

  it.each<[string, unknown]>([
    ['nested 20,000 deep', JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))],
    ['an object', {}],
    ['null', null],
    ['a long text', 'x'.repeat(300)],
  ])('gets an answer to an id that is %s, and goes on', async (_what, id) => {
    const raw = await open();
    const text = message({ accessToken }, '|');
    const json = Array.isArray(id) ? '['.repeat(20_000) + ']'.repeat(20_000) : JSON.stringify(id);
    expect(await raw.ask(text.replace('"|"', json))).toEqual({
      err: refusal('VALIDATION_ERROR', 'id must be a number or a string of at most 255 characters'),
      isDisposed: true,
    });
    expect(await raw.ask(LIST)).toMatchObject({ id: '1', response: { success: true } });
  });

  it.each(['pattern', 'metadata', 'data', 'accessToken'])(
    'gets an answer where its %s is nested 20,000 deep',
    async (name) => {
      const raw = await open();
      const packet = { pattern: 'time-log.list.v1', id: 1, metadata: {}, data: { accessToken } };
      const deep = { [name]: '|' };
      const text = JSON.stringify(
        name === 'accessToken' ? { ...packet, data: deep } : { ...packet, ...deep },
      );
      expect(await raw.ask(text.replace('"|"', '['.repeat(20_000) + ']'.repeat(20_000)))).toMatchObject(
        name === 'metadata'
          ? { id: 1, response: { success: true } }
          : { id: 1, err: { error: name === 'pattern' ? 'NOT_FOUND' : 'UNAUTHORIZED' } },
      );
    },
  );

  it.each([
    ['{"a":', 'NOT_FOUND'],
    ['["', 'NOT_FOUND'],
  ])('gets an answer where its pattern says JSON: %s', async (open_, error) => {
    const raw = await open();
    const pattern = open_.repeat(10_000);
    expect(await raw.ask(JSON.stringify({ pattern, id: 1, data: {} }))).toMatchObject({
      id: 1,
      err: { error },
    });
  });

  it('is answered up to a mebibyte: whoever has no token is UNAUTHORIZED, others send too much', async () => {
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

  it('is told what is wrong with its JSON after its token was looked at', async () => {
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
  // Nothing here ends because its time is over.
  const { open } = hostWith({ message: 3_600_000, rest: 3_600_000 });

  it('are 100 at most: one that was refused gives way to a newcomer, and then the oldest', async () => {
    const known = await open();
    await known.ask(LIST);
    const strangers: RawTcp[] = [];
    while (strangers.length < 100) strangers.push(await open());
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
