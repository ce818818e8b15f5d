import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timesOf } from '../../../../test/support/extent.js';
import { Utf16Counter } from './utf16-counter.js';

/** Counts bytes that come in pieces. */
function unitsOf(bytes: Buffer, cuts: readonly number[] = []): number {
  const counter = new Utf16Counter();
  let at = 0;
  for (const cut of [...cuts.map((part) => part % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    at = counter.count(bytes, at, cut, Infinity);
  }
  return counter.units;
}

/** Bytes among which pieces of sequences are frequent. */
const bytes = fc
  .array(
    fc.oneof(
      fc.constantFrom(0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe2, 0xed),
      fc.constantFrom(0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff),
      fc.integer({ min: 0, max: 255 }),
    ),
  )
  // Its end ends whatever has begun.
  .map((given) => Buffer.from([...given, 0x21]));

describe('Utf16Counter', () => {
  it.each(['', 'a', 'é', '€', '😀', 'a😀é€', '\uFFFD\uFEFF'])('counts %j as its length', (text) => {
    expect(unitsOf(Buffer.from(text))).toBe(text.length);
  });

  it('counts what is no UTF-8 as Node reads it, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat()), (given, cuts) => {
        expect(unitsOf(given, cuts)).toBe(given.toString().length);
      }),
      { numRuns: timesOf(2_000, 300) },
    );
  });

  it('stops at so many units, before the next character', () => {
    const counter = new Utf16Counter();
    expect(counter.count(Buffer.from('é€xyz'), 0, 8, 3)).toBe(6);
    expect(counter.count(Buffer.of(0x61, 0xe2, 0x82, 0x62), 0, 4, 5)).toBe(3);
    expect(counter.units).toBe(5);
  });
});
