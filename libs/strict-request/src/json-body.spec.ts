import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { parseJson, readJsonObject } from './json-body.js';
import { applyRules } from './request-state.js';

const MARK = '\uFEFF';

/** Returns a request with this stream as its body, and a Content-Type. */
function requestOf(body: Readable, contentType = 'application/json'): IncomingMessage {
  const request = Object.assign(body, {
    headers: { 'content-type': contentType },
    rawHeaders: ['Content-Type', contentType],
    complete: true,
  }) as unknown as IncomingMessage;
  applyRules(request, { bodyLimit: 8, deadline: 1 });
  return request;
}

/** Reads the body `{}` of a request with a Content-Type. */
function readAs(contentType: string): Promise<object> {
  return readJsonObject(requestOf(Readable.from([Buffer.from('{}')]), contentType));
}

it('readJsonObject does not keep the chunks of a body: each takes 600 bytes', async () => {
  const body = new Readable({ read: () => undefined });
  const object = readJsonObject(requestOf(body));
  await new Promise((resolve) => body.once('resume', resolve));
  for (const [index, byte] of Buffer.from('{"a":12}').entries()) {
    const chunk = Buffer.of(byte);
    body.push(chunk);
    // The first one is the body if there is no other.
    if (index > 0) chunk.fill(0);
  }
  body.push(null);
  expect(await object).toEqual({ a: 12 });
});

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
    for (const json of [text, MARK + text])
      expect(parseJson(Buffer.from(json), 'the message')).toEqual(value);
  });

  it.each([
    ['two', `${MARK}${MARK}{}`],
    ['one after a space', ` ${MARK}{}`],
    ['one after the value', `{}${MARK}`],
    ['nothing but one', MARK],
  ])('rejects %s', (_what, text) => {
    expect(() => parseJson(Buffer.from(text), 'the message')).toThrow('the message must be valid JSON');
  });

  it.each([
    ['UTF-16, little-endian', Buffer.from(`${MARK}{}`, 'utf16le')],
    ['UTF-16, big-endian', Buffer.from(`${MARK}{}`, 'utf16le').swap16()],
    ['a part of a mark', Buffer.from([0xef, 0xbb, 0x7b, 0x7d])],
  ])('rejects %s', (_what, bytes) => {
    expect(() => parseJson(bytes, 'the message')).toThrow('the message must be valid UTF-8');
  });
});
