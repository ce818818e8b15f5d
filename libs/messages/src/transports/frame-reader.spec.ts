import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-text.js';
import { timesOf } from '../../../../test/support/extent.js';
import { frameOf, FrameReader } from './frame-reader.js';

const MIB = 1_048_576;

/** Returns the messages in bytes that are added in chunks of a size. */
function read(reader: FrameReader, bytes: Buffer, size: number): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    reader.add(bytes.subarray(at, at + size));
    while (reader.isReady()) messages.push(reader.take().toString());
  }
  return messages;
}

describe('FrameReader', () => {
  it('extracts every message, whatever its characters and its chunks', () => {
    const texts = fc.array(
      fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '😀', 'é€', '1#{}')),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 100 }), (messages, size) => {
        const reader = new FrameReader();
        expect(read(reader, Buffer.from(messages.map(frameOf).join('')), size)).toEqual(messages);
        expect([reader.hasBegun, reader.heldBytes]).toEqual([false, 0]);
      }),
      { numRuns: timesOf(1_000, 100) },
    );
  });

  it('counts invalid UTF-8 as the sender does', () => {
    const reader = new FrameReader();
    reader.add(Buffer.concat([Buffer.from('4#"'), Buffer.of(0xc3, 0x28), Buffer.from('"2#{}')]));
    expect(reader.isReady()).toBe(true);
    expect(reader.take().toString('hex')).toBe('22c32822');
    expect(reader.isReady()).toBe(true);
    expect(reader.take().toString()).toBe('{}');
  });

  it('buffers at most twice the bytes received', () => {
    const reader = new FrameReader();
    reader.add(Buffer.from('1000000#'));
    expect(reader.isReady()).toBe(false);
    for (let received = 1; received <= 1_000; received++) {
      reader.add(Buffer.from('x'));
      expect(reader.heldBytes).toBeLessThanOrEqual(2 * (8 + received));
    }
  });

  it.each(['#', 'x', ' 2#{}', '-1#', '1.5#', '1e3#', '12345678', '\0', '0x1#', '2#"😀"'])(
    'refuses bytes that do not begin with a length, or with one that ends within a character: %j',
    (text) => {
      const reader = new FrameReader();
      reader.add(Buffer.from(text));
      expect(() => reader.isReady()).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    },
  );

  it('accepts a message of 1 MiB, and refuses a larger one by its length or its bytes', () => {
    const reader = new FrameReader();
    expect(read(reader, Buffer.from(frameOf('x'.repeat(MIB))), 65_536)).toHaveLength(1);
    const tooLarge = expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' });
    expect(() => read(new FrameReader(), Buffer.from('1800000#'), 8)).toThrow(tooLarge);
    const wide = Buffer.from(frameOf('€'.repeat(400_000)));
    let received = 0;
    expect(() => {
      for (; received < wide.length; received += 65_536)
        read(reader, wide.subarray(received, received + 65_536), 65_536);
    }).toThrow(tooLarge);
    expect(received).toBeLessThan(1.1 * MIB);
  });
});
