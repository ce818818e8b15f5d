import { describe, expect, it } from '@jest/globals';
import { packetJson, written } from './written-answer.js';

const DIGITS = '0.30000000000000000000000000000001';

describe('the JSON of an answer', () => {
  it('is that of the packet', () => {
    for (const packet of [{ response: { sum: 0.3 }, id: '1' }, { err: 'no', isDisposed: true }, {}]) {
      expect(packetJson(packet)).toBe(JSON.stringify(packet));
    }
    for (const response of [null, 'text', 7, undefined]) {
      expect(packetJson({ response })).toBe(JSON.stringify({ response }));
    }
  });

  it('has the text of an answer that was written, and what stands beside it', () => {
    const answer = written({ sum: 0.3 }, `{"sum":${DIGITS}}`);
    expect(packetJson({ response: answer, isDisposed: true, id: '"}' })).toBe(
      `{"response":{"sum":${DIGITS}},"isDisposed":true,"id":"\\"}"}`,
    );
    expect(packetJson({ response: answer })).toBe(`{"response":{"sum":${DIGITS}}}`);
  });

  it('is the answer itself elsewhere, and of whoever has copied it', () => {
    const answer = written({ sum: 0.3 }, `{"sum":${DIGITS}}`);
    expect(JSON.stringify(answer)).toBe('{"sum":0.3}');
    expect(packetJson({ response: { ...answer, more: 1 } })).toBe('{"response":{"sum":0.3,"more":1}}');
  });
});
