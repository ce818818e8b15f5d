import { expect, it, jest } from '@jest/globals';
import { NatsServer } from './nats.server.js';

/** Handles a message with headers of a size. Returns the reply, and the decoded headers. */
async function send(headerBytes: number, reply = '_INBOX.a') {
  const logger = { log: jest.fn(), error: jest.fn() };
  const server = new NatsServer(new URL('nats://127.0.0.1'), {
    queue: 'q',
    bodyLimit: 65_536,
    maxInFlight: 1,
    logger,
  });
  jest.spyOn(server, 'unwrap').mockReturnValue({ stats: () => ({ outBytes: 0 }) });
  const seen: unknown[] = [];
  server.addHandler('x', (_data, context: { getHeaders(): unknown }) =>
    Promise.resolve(seen.push(context.getHeaders())),
  );
  const data = Buffer.from('{"id":"1"}');
  const decode = jest.fn(() => 'decoded');
  const answer = await new Promise<string | undefined>((resolve) => {
    server.getMessageHandler('x')(undefined, {
      data,
      reply,
      get headers() {
        return decode();
      },
      size: () => headerBytes + data.length,
      respond: (bytes: Buffer) => resolve(bytes.toString()),
    } as never);
    if (logger.error.mock.calls.length > 0) resolve(undefined);
  });
  return { answer, seen, decoded: decode.mock.calls.length };
}

const REPLY = '{"response":1,"isDisposed":true,"id":"1"}';

it('decodes headers of at most 2 KiB', async () => {
  expect(await send(2_048)).toEqual({ answer: REPLY, seen: ['decoded'], decoded: 1 });
  expect(await send(2_049)).toEqual({ answer: REPLY, seen: [undefined], decoded: 0 });
});

it('refuses a message that is too large with its headers, before it decodes them', async () => {
  const { answer, decoded } = await send(1_100_000);
  expect(JSON.parse(answer!)).toMatchObject({ err: { error: 'PAYLOAD_TOO_LARGE' } });
  expect(decoded).toBe(0);
});

it('does not run a message whose reply subject is not an inbox', async () => {
  expect(await send(0, '$JS.API.STREAM.PURGE.time-logs')).toEqual({
    answer: undefined,
    seen: [],
    decoded: 0,
  });
});
