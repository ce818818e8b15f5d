import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timesOf } from '../../../../test/support/extent.js';
import { Utf16Counter } from './utf16-counter.js';

/** Counts the code units of bytes that are read in parts. */
function unitsOf(bytes: Buffer, splits: readonly number[] = []): number {
  const counter = new Utf16Counter();
  let at = 0;
  for (const end of [
    ...splits.map((part) => part % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ]) {
    at = counter.count(bytes, at, end, Infinity);
  }
  return counter.units;
}

/** Bytes with many incomplete sequences. */
const bytes = fc
  .array(
    fc.oneof(
      fc.constantFrom(0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe2, 0xed),
      fc.constantFrom(0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff),
      fc.integer({ min: 0, max: 255 }),
    ),
  )
  // The last byte ends any sequence.
  .map((sample) => Buffer.from([...sample, 0x21]));

describe('Utf16Counter', () => {
  it.each(['', 'a', 'é', '€', '😀', 'a😀é€', '\uFFFD\uFEFF'])('counts %j as its length', (text) => {
    expect(unitsOf(Buffer.from(text))).toBe(text.length);
  });

  it('counts invalid UTF-8 as Node decodes it, in any parts', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat()), (sample, splits) => {
        expect(unitsOf(sample, splits)).toBe(sample.toString().length);
      }),
      { numRuns: timesOf(2_000, 300) },
    );
  });

  it('stops at the maximum, before the next character', () => {
    const counter = new Utf16Counter();
    expect(counter.count(Buffer.from('é€xyz'), 0, 8, 3)).toBe(6);
    expect(counter.count(Buffer.of(0x61, 0xe2, 0x82, 0x62), 0, 4, 5)).toBe(3);
    expect(counter.units).toBe(5);
  });
});
