import { describe, expect, it } from '@jest/globals';
import { packetJson, withJson } from './packet-json.js';

const DIGITS = '0.30000000000000000000000000000001';

describe('packetJson', () => {
  it('serializes a packet', () => {
    for (const packet of [{ response: { sum: 0.3 }, id: '1' }, { err: 'no', isDisposed: true }, {}]) {
      expect(packetJson(packet)).toBe(JSON.stringify(packet));
    }
    for (const response of [null, 'text', 7, undefined]) {
      expect(packetJson({ response })).toBe(JSON.stringify({ response }));
    }
  });

  it('uses the JSON that was set for a response, and adds the other fields', () => {
    const response = withJson({ sum: 0.3 }, `{"sum":${DIGITS}}`);
    expect(packetJson({ response, isDisposed: true, id: '"}' })).toBe(
      `{"response":{"sum":${DIGITS}},"isDisposed":true,"id":"\\"}"}`,
    );
    expect(packetJson({ response })).toBe(`{"response":{"sum":${DIGITS}}}`);
  });

  it('serializes a copy of the response, as JSON.stringify does', () => {
    const response = withJson({ sum: 0.3 }, `{"sum":${DIGITS}}`);
    expect(JSON.stringify(response)).toBe('{"sum":0.3}');
    expect(packetJson({ response: { ...response, more: 1 } })).toBe('{"response":{"sum":0.3,"more":1}}');
  });
});
