import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-text.js';
import { timesOf } from '../../../../test/support/extent.js';
import { frameOf, FrameReader } from './frame-reader.js';

const MEBIBYTE = 1_048_576;

/** The messages in bytes that come in chunks of a size. */
function read(reader: FrameReader, bytes: Buffer, size: number): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    reader.add(bytes.subarray(at, at + size));
    while (reader.isReady()) messages.push(reader.take().toString());
  }
  return messages;
}

describe('FrameReader', () => {
  it('finds every message, whatever its characters and in whatever pieces it comes', () => {
    const texts = fc.array(
      fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '😀', 'é€', '1#{}')),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 100 }), (messages, size) => {
        const reader = new FrameReader();
        expect(read(reader, Buffer.from(messages.map(frameOf).join('')), size)).toEqual(messages);
        expect([reader.hasBegun, reader.held]).toEqual([false, 0]);
      }),
      { numRuns: timesOf(1_000, 100) },
    );
  });

  it('takes the bytes that are no UTF-8 as its sender has counted them', () => {
    const reader = new FrameReader();
    reader.add(Buffer.concat([Buffer.from('4#"'), Buffer.of(0xc3, 0x28), Buffer.from('"2#{}')]));
    expect(reader.isReady()).toBe(true);
    expect(reader.take().toString('hex')).toBe('22c32822');
    expect(reader.isReady()).toBe(true);
    expect(reader.take().toString()).toBe('{}');
  });

  it('holds at most twice what has come', () => {
    const reader = new FrameReader();
    reader.add(Buffer.from('1000000#'));
    expect(reader.isReady()).toBe(false);
    for (let come = 1; come <= 1_000; come++) {
      reader.add(Buffer.from('x'));
      expect(reader.held).toBeLessThanOrEqual(2 * (8 + come));
    }
  });

  it('keeps no bytes of messages that were taken', () => {
    const reader = new FrameReader();
    for (let i = 0; i < 1_000; i++) {
      expect(read(reader, Buffer.from('4#"ab"4#"'), 9)).toHaveLength(1);
      expect(read(reader, Buffer.from('cd"'), 3)).toHaveLength(1);
    }
    expect(reader.held).toBe(0);
  });

  it.each(['#', 'x', ' 2#{}', '-1#', '1.5#', '1e3#', '12345678', '\0', '0x1#'])(
    'refuses what does not begin with a length: %j',
    (text) => {
      const reader = new FrameReader();
      reader.add(Buffer.from(text));
      expect(() => reader.isReady()).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    },
  );

  it('refuses a length that ends within a character', () => {
    const reader = new FrameReader();
    reader.add(Buffer.from('2#"😀"'));
    expect(() => reader.isReady()).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it('takes a message of a mebibyte, and refuses one that is larger when it is said or seen to be', () => {
    const reader = new FrameReader();
    expect(read(reader, Buffer.from(frameOf('x'.repeat(MEBIBYTE))), 65_536)).toHaveLength(1);
    const tooLarge = expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' });
    expect(() => read(new FrameReader(), Buffer.from('1800000#'), 8)).toThrow(tooLarge);
    const wide = Buffer.from(frameOf('€'.repeat(400_000)));
    let come = 0;
    expect(() => {
      for (; come < wide.length; come += 65_536) read(reader, wide.subarray(come, come + 65_536), 65_536);
    }).toThrow(tooLarge);
    expect(come).toBeLessThan(1.1 * MEBIBYTE);
  });
});
