import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../errors/src/index.js';
import { stateOf } from '../../strict-request/src/index.js';
import { MAX_MESSAGE_BYTES, readPacket } from './packet.js';

const BODY_LIMIT = 65_536;
const PATTERN = 'thing.record.v1';
const LARGE = '\\"id\\":'.repeat(20_000);

/** Returns the error that was recorded for data of which only the token was extracted. */
function errorIn(data: unknown): unknown {
  const { readError } = stateOf(data as object);
  return readError && [readError.code, readError.message];
}

const text = (data: unknown) => JSON.stringify({ pattern: PATTERN, data, id: 'one' });

describe('readPacket', () => {
  it('parses what Nest sends', () => {
    const packet = { pattern: PATTERN, data: { accessToken: 'a', description: 'é😀' }, id: 'one' };
    for (const mark of ['', '\uFEFF'])
      expect(readPacket(Buffer.from(mark + JSON.stringify(packet)), BODY_LIMIT)).toEqual(packet);
    expect(readPacket(Buffer.from('{"id":7}'), BODY_LIMIT)).toEqual({ id: 7 });
    expect(errorIn({})).toBeUndefined();
  });

  it.each<[string, Buffer, string]>([
    [
      'is not UTF-8',
      Buffer.from(text({ accessToken: 'a', x: 'é' }), 'latin1'),
      'the message must be valid UTF-8',
    ],
    [
      'is not JSON',
      Buffer.from(text({ accessToken: 'a', x: 1 }).replace('"x":1', '"x":[1,]')),
      'the message must be valid JSON',
    ],
  ])('extracts only the token of a message that %s, and records the error', (_what, bytes, message) => {
    const { pattern, data, id } = readPacket(bytes, BODY_LIMIT);
    expect([pattern, id]).toEqual([PATTERN, 'one']);
    expect(errorIn(data)).toEqual(['VALIDATION_ERROR', message]);
    expect(data).toMatchObject({ accessToken: 'a' });
  });

  it.each<[string, object]>([
    [
      'as a client of Nest sends it',
      { pattern: PATTERN, data: { accessToken: 'a', id: 'two', x: LARGE }, id: 'one' },
    ],
    [
      'with its data first',
      { data: { x: { id: 'two', pattern: 'x', y: LARGE }, accessToken: 'a' }, id: 'one', pattern: PATTERN },
    ],
    [
      'with its data last',
      { id: 'one', pattern: PATTERN, data: { accessToken: 'a', x: LARGE, id: 'two', pattern: 'x' } },
    ],
  ])('extracts only the token of a message that is too large, %s', (_order, packet) => {
    for (const json of [JSON.stringify(packet), JSON.stringify(packet, undefined, 2)]) {
      const { pattern, data, id } = readPacket(Buffer.from(json), BODY_LIMIT);
      expect([pattern, id, Object.entries(data as object)]).toEqual([PATTERN, 'one', [['accessToken', 'a']]]);
      expect(errorIn(data)).toEqual([
        'PAYLOAD_TOO_LARGE',
        `the message must be at most ${BODY_LIMIT} bytes of JSON`,
      ]);
    }
  });

  it('does not parse a token that is too long', () => {
    const { data } = readPacket(Buffer.from(text({ accessToken: '['.repeat(2 * BODY_LIMIT) })), BODY_LIMIT);
    expect(data).toMatchObject({ accessToken: null });
  });

  it.each(['', '{"id":"one"', '"\\', '[{"":'.repeat(20_000)])('throws if it finds no pattern: %#', (json) => {
    expect(() => readPacket(Buffer.from(json), BODY_LIMIT)).toThrow(DomainError);
  });

  it.each(['null', '[]', '[{"id":"one"}]', '1', '"x"', 'true'])(
    'refuses a message that is not an object: %s',
    (json) => {
      expect(() => readPacket(Buffer.from(json), BODY_LIMIT)).toThrow('the message must be a JSON object');
    },
  );

  it.each([null, true, {}, [], 'x'.repeat(256)])(
    'refuses an id that is not a number or a short string: %j',
    (id) => {
      const form = 'id must be a number or a string of at most 255 characters';
      expect(() => readPacket(Buffer.from(JSON.stringify({ pattern: PATTERN, id })), BODY_LIMIT)).toThrow(
        form,
      );
      const large = JSON.stringify({ pattern: PATTERN, id, data: { x: 'x'.repeat(2 * BODY_LIMIT) } });
      expect(() => readPacket(Buffer.from(large), BODY_LIMIT)).toThrow(form);
    },
  );

  it('refuses a nested id of any depth', () => {
    for (const depth of [20_000, 500_000]) {
      const id = '['.repeat(depth) + ']'.repeat(depth);
      expect(() => readPacket(Buffer.from(`{"pattern":"x","id":${id}}`), BODY_LIMIT)).toThrow(/^id must be /);
      expect(() => readPacket(Buffer.from(`{"pattern":"x","id":${id}}`), MAX_MESSAGE_BYTES)).toThrow(
        /^id must be /,
      );
    }
  });
});
