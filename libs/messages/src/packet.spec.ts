import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../errors/src/index.js';
import { stateOf } from '../../strict-request/src/index.js';
import { LARGEST_MESSAGE, readPacket } from './packet.js';

const LIMIT = 65_536;
const PATTERN = 'thing.record.v1';

/** The fault of data that a token alone was read of. */
function faultIn(data: unknown): unknown {
  const { readError: fault } = stateOf(data as object);
  return fault && [fault.code, fault.message];
}

const text = (data: unknown) => JSON.stringify({ pattern: PATTERN, data, id: 'one' });

describe('readPacket', () => {
  it('reads what Nest sends', () => {
    const packet = { pattern: PATTERN, data: { accessToken: 'a', description: 'é😀' }, id: 'one' };
    expect(readPacket(Buffer.from(JSON.stringify(packet)), LIMIT)).toEqual(packet);
    expect(readPacket(Buffer.from('{"id":7}'), LIMIT)).toEqual({ id: 7 });
    expect(faultIn({})).toBeUndefined();
  });

  it.each<[string, Buffer, string]>([
    [
      'no UTF-8',
      Buffer.from(text({ accessToken: 'a', x: 'é' }), 'latin1'),
      'the message must be valid UTF-8',
    ],
    [
      'no JSON',
      Buffer.from(text({ accessToken: 'a', x: 1 }).replace('"x":1', '"x":[1,]')),
      'the message must be valid JSON',
    ],
    [
      'what is cut',
      Buffer.from(`{"id":"one","pattern":"${PATTERN}","data":{"accessToken":"a","x":1`),
      'the message must be valid JSON',
    ],
  ])('reads the token alone of %s, and keeps what is wrong', (_what, bytes, message) => {
    const { pattern, data, id } = readPacket(bytes, LIMIT);
    expect([pattern, id]).toEqual([PATTERN, 'one']);
    expect(faultIn(data)).toEqual(['VALIDATION_ERROR', message]);
    expect(data).toMatchObject({ accessToken: 'a' });
  });

  it.each<[string, object]>([
    ['before', { data: { accessToken: 'a', x: 'x'.repeat(2 * LIMIT) }, pattern: PATTERN, id: 'one' }],
    [
      'behind',
      { id: 'one', pattern: PATTERN, data: { x: ['{"accessToken":"b"}"'.repeat(9_000)], accessToken: 'a' } },
    ],
    [
      'among others',
      {
        pattern: PATTERN,
        id: 'one',
        x: '\\'.repeat(LIMIT),
        data: { y: { accessToken: 'b' }, accessToken: 'a', z: { accessToken: 'c' } },
      },
    ],
  ])('reads the token alone of more than the limit: %s', (_where, packet) => {
    for (const json of [JSON.stringify(packet), JSON.stringify(packet, undefined, 2)]) {
      const { pattern, data, id } = readPacket(Buffer.from(json), LIMIT);
      expect({ pattern, id, data }).toEqual({
        pattern: PATTERN,
        id: 'one',
        data: expect.objectContaining({ accessToken: 'a' }),
      });
      expect(Object.keys(data as object)).toEqual(['accessToken']);
      expect(faultIn(data)).toEqual([
        'PAYLOAD_TOO_LARGE',
        `the message must be at most ${LIMIT} bytes of JSON`,
      ]);
    }
  });

  it('reads a member that is given twice as JSON.parse does: the last one', () => {
    const json = `{"pattern":"x","id":"first","id":"one","pattern":"${PATTERN}","data":{"accessToken":"b","accessToken":"a","x":}}`;
    expect(readPacket(Buffer.from(json), LIMIT)).toMatchObject({
      pattern: PATTERN,
      id: 'one',
      data: { accessToken: 'a' },
    });
  });

  it('reads no token that is larger than a token', () => {
    const { data } = readPacket(Buffer.from(text({ accessToken: '['.repeat(2 * LIMIT) })), LIMIT);
    expect(data).toMatchObject({ accessToken: null });
  });

  it.each([
    '',
    '[',
    '"',
    '{',
    '{"',
    '{"id":"one"',
    ']',
    '}{"pattern":1}',
    '\\',
    '"\\',
    '[{"":'.repeat(20_000),
  ])('throws where there is nothing to go on with: %#', (json) => {
    expect(() => readPacket(Buffer.from(json), LIMIT)).toThrow(DomainError);
  });

  it.each(['null', '[]', '[{"id":"one"}]', '1', '"x"', 'true'])(
    'takes no message but an object: %s',
    (json) => {
      expect(() => readPacket(Buffer.from(json), LIMIT)).toThrow('the message must be a JSON object');
    },
  );

  it.each([null, true, {}, [], 'x'.repeat(256)])('takes no id but a number or a short text: %j', (id) => {
    const form = 'id must be a number or a string of at most 255 characters';
    expect(() => readPacket(Buffer.from(JSON.stringify({ pattern: PATTERN, id })), LIMIT)).toThrow(form);
    const large = JSON.stringify({ pattern: PATTERN, id, data: { x: 'x'.repeat(2 * LIMIT) } });
    expect(() => readPacket(Buffer.from(large), LIMIT)).toThrow(form);
  });

  it('takes an id of any depth for what it is', () => {
    for (const depth of [20_000, 500_000]) {
      const id = '['.repeat(depth) + ']'.repeat(depth);
      expect(() => readPacket(Buffer.from(`{"pattern":"x","id":${id}}`), LIMIT)).toThrow(/^id must be /);
      expect(() => readPacket(Buffer.from(`{"pattern":"x","id":${id}}`), LARGEST_MESSAGE)).toThrow(
        /^id must be /,
      );
    }
  });
});
