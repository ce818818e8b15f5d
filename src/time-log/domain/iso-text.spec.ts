import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isoText } from './iso-text.js';

describe('isoText', () => {
  it('equals toISOString for every instant that an id can hold', () => {
    // 48 bits of milliseconds reach past the year 9999: those years have a sign and six digits.
    const instants = fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { maxLength: 5 });
    fc.assert(
      fc.property(instants, (all) => {
        for (const milliseconds of all) {
          for (const near of [milliseconds, milliseconds + 1]) {
            expect(isoText(near)).toBe(new Date(near).toISOString());
          }
        }
      }),
    );
  });

  it.each(['1970-01-01T00:00:00.000Z', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'])(
    'is right at the start and end of a day: %s',
    (text) => expect(isoText(Date.parse(text))).toBe(text),
  );
});
