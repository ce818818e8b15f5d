import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { parseJson, receiveJsonObject } from './strict-body.js';

const MARK = '\uFEFF';

/** Returns a request with this stream as its body, and a Content-Type. */
function requestOf(body: Readable, complete: boolean, contentType = 'application/json'): IncomingMessage {
  return Object.assign(body, {
    headers: { 'content-type': contentType },
    rawHeaders: ['Content-Type', contentType],
    complete,
  }) as unknown as IncomingMessage;
}

async function readObject(request: IncomingMessage, limit: number): Promise<object> {
  return (await receiveJsonObject(request, { limit }))();
}

/** Reads a body that has arrived with its headers, and whose end Node has reported or, as usual, reports later. */
function readArrived(json: string, limit: number, contentType?: string, complete = false): Promise<object> {
  const body = new Readable({ read: () => undefined });
  body.push(json.slice(0, 1));
  body.push(json.slice(1));
  if (complete) body.push(null);
  const request = requestOf(body, complete, contentType);
  request.headers['content-length'] = String(json.length);
  return readObject(request, limit);
}

/** Reads a body whose bytes arrive one by one. */
async function readBytes(json: string, limit: number): Promise<object> {
  const body = new Readable({ read: () => undefined });
  const request = requestOf(body, false);
  const object = readObject(request, limit);
  await Promise.race([object, new Promise((resolve) => body.once('resume', resolve))]);
  for (const [index, byte] of Buffer.from(json).entries()) {
    const chunk = Buffer.of(byte);
    body.push(chunk);
    // A chunk of 1 byte takes 600 bytes of memory, so only the first one is kept, if there is no other.
    if (index > 0) chunk.fill(0);
  }
  body.push(null);
  request.complete = true;
  return object;
}

describe.each([
  ['has arrived', readArrived],
  ['is complete', (json: string, limit: number) => readArrived(json, limit, undefined, true)],
  ['arrives byte by byte', readBytes],
])('receiveJsonObject of a body that %s', (_how, read) => {
  it('returns its object', async () => {
    expect(await read('{"a":12}', 8)).toEqual({ a: 12 });
  });

  it('refuses one byte more than the limit', async () => {
    await expect(read('{"a":123}', 8)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'the request body must be at most 8 bytes',
    });
  });

  it('refuses an empty one', async () => {
    await expect(read('', 8)).rejects.toThrow('the request body must be valid JSON');
  });
});

it('receiveJsonObject takes a body that comes with its headers without a listener, and the request ends', async () => {
  const server = createServer().listen(0);
  const socket = connect((server.address() as AddressInfo).port);
  try {
    const headers = ['Host: a', 'Content-Type: application/json', 'Content-Length: 7'];
    socket.write(['POST / HTTP/1.1', ...headers, '', '{"a":1}'].join('\r\n'));
    const [request] = (await once(server, 'request')) as [IncomingMessage];
    const closed = once(request, 'close');
    const body = receiveJsonObject(request, { limit: 7 });
    expect(request.listenerCount('data')).toBe(0);
    expect((await body)()).toEqual({ a: 1 });
    await closed;
  } finally {
    socket.destroy();
    server.close();
  }
});

it('receiveJsonObject refuses a body whose connection is closed before its end', async () => {
  const body = new Readable({ read: () => undefined });
  const object = readObject(requestOf(body, false), 8);
  body.destroy();
  await expect(object).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
});

/** Reads the body `{}` of a request with a Content-Type. */
const readAs = (contentType: string) => readArrived('{}', 2, contentType);

describe('the Content-Type of a JSON body', () => {
  it.each([
    // The last label is one of the WHATWG encoding standard, section 4.2.
    ...['charset=utf-8', 'Charset="UTF8"', 'charset=unicode-1-1-utf-8', 'charset=utf8 ', ' charset=utf8'],
    ...['charset=utf8; profile=x', 'profile="charset"; charset=utf8', ''],
  ])('may have the parameter %j', async (parameter) => {
    expect(await readAs(`application/json;${parameter}`)).toEqual({});
    expect(await readAs(`Application/JSON ; ${parameter}`)).toEqual({});
  });

  it.each([
    ...['utf-16le', 'latin1', 'us-ascii', 'utf_8', '"utf-8, utf-8"', "'utf-8'", '', '""'],
    ...['utf8; charset=utf8', 'utf-8; charset=latin1', 'latin1; charset=utf-8'],
  ])('may not have the charset %j', async (charset) => {
    await expect(readAs(`application/json;charset=${charset}`)).rejects.toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'Content-Type must be application/json in UTF-8',
    });
  });
});

describe('parseJson', () => {
  it.each([
    ['{}', {}],
    ['\r\n [] ', []],
    [JSON.stringify({ [MARK]: MARK }), { [MARK]: MARK }],
  ])('ignores a byte order mark before %j', (text, value) => {
    for (const json of [text, MARK + text]) expect(parseJson(Buffer.from(json))).toEqual(value);
  });

  it.each([
    ['two', Buffer.from(`${MARK}${MARK}{}`), 'JSON'],
    ['one after a space', Buffer.from(` ${MARK}{}`), 'JSON'],
    ['one after the value', Buffer.from(`{}${MARK}`), 'JSON'],
    ['nothing but one', Buffer.from(MARK), 'JSON'],
    ['UTF-16, little-endian', Buffer.from(`${MARK}{}`, 'utf16le'), 'UTF-8'],
    ['UTF-16, big-endian', Buffer.from(`${MARK}{}`, 'utf16le').swap16(), 'UTF-8'],
    ['a part of a mark', Buffer.from([0xef, 0xbb, 0x7b, 0x7d]), 'UTF-8'],
  ])('rejects %s', (_what, bytes, form) => {
    expect(() => parseJson(bytes)).toThrow(`the request body must be valid ${form}`);
  });
});
