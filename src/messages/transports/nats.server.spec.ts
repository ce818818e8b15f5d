import { expect, it, jest } from '@jest/globals';
import { NatsServer } from './nats.server.js';

/** Handles a message with headers of a size. Returns the replies, and how often the headers were decoded. */
async function send(headerBytes: number, reply = '_INBOX.a', respond = jest.fn<(bytes: unknown) => void>()) {
  const logger = { log: jest.fn(), error: jest.fn() };
  const server = new NatsServer(new URL('nats://127.0.0.1'), { queue: 'q', bodyLimit: 65_536, logger });
  const seen: unknown[] = [];
  server.addHandler('x', async (_data, context: { getHeaders(): unknown }) =>
    seen.push(context.getHeaders()),
  );
  const data = Buffer.from('{"id":"1","data":1}');
  const decode = jest.fn(() => 'decoded');
  await server.getMessageHandler('x')(undefined, {
    data,
    reply,
    subject: 'x',
    get headers() {
      return decode();
    },
    size: () => 'x'.length + reply.length + headerBytes + data.length,
    json: () => JSON.parse(data.toString()) as unknown,
    respond,
  } as never);
  await new Promise(setImmediate);
  const replies = respond.mock.calls.map(([bytes]) => JSON.parse(String(bytes)) as unknown);
  return { replies, seen, decoded: decode.mock.calls.length, errors: logger.error.mock.calls };
}

const REPLY = { response: 1, isDisposed: true, id: '1' };
const TOO_LARGE = { err: expect.objectContaining({ error: 'PAYLOAD_TOO_LARGE' }), isDisposed: true };

it('decodes headers of at most 2 KiB', async () => {
  expect(await send(2_048)).toMatchObject({ replies: [REPLY], seen: ['decoded'], decoded: 1 });
  expect(await send(2_049)).toMatchObject({ replies: [REPLY], seen: [undefined], decoded: 0 });
});

it('refuses a message that is too large with its headers, before it decodes them', async () => {
  expect(await send(65_536)).toMatchObject({ replies: [TOO_LARGE], seen: [], decoded: 0 });
});

it('answers that it is too large what the broker does not take', async () => {
  const respond = jest.fn<(bytes: unknown) => void>().mockImplementationOnce(() => {
    throw new Error('max_payload size exceeded');
  });
  expect((await send(0, '_INBOX.a', respond)).replies).toEqual([REPLY, TOO_LARGE]);
});

it('drops a message whose reply subject is not an inbox', async () => {
  for (const reply of ['$JS.API.STREAM.PURGE.time-logs', 'time-log.created', '_INBOX', 'x._INBOX.a'])
    expect(await send(0, reply)).toMatchObject({
      replies: [],
      seen: [],
      decoded: 0,
      errors: [['messages: a message was refused: its reply address must be _INBOX.*']],
    });
});
