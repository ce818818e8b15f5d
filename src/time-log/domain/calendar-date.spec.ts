import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-text.js';
import { timesOf } from '../../../test/support/extent.js';
import { isCalendarDate, isoText } from './calendar-date.js';

/** Computes the same with `Date`: a day exists if its text is unchanged after parsing. */
function existsInUtc(text: string): boolean {
  const instant = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(instant.getTime()) && text >= '0001' && instant.toISOString().slice(0, -14) === text;
}

const pad = (value: number, length: number) => String(value).padStart(length, '0');

describe('isCalendarDate', () => {
  it.each([
    [0, 10],
    [1590, 1610],
    [1896, 2104],
    [9990, 9999],
  ])('accepts exactly the existing days of the years %i to %i', (first, last) => {
    const wrong: string[] = [];
    let days = 0;
    for (let year = first; year <= last; year++) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
          const isDay = isCalendarDate(text);
          if (isDay !== existsInUtc(text)) wrong.push(text);
          if (isDay) days++;
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(days).toBeGreaterThan(365 * (last - first));
  });

  it.each(['0001-01-01', '1900-02-28', '2000-02-29', '2024-02-29', '9999-12-31'])('accepts %s', (text) => {
    expect(isCalendarDate(text)).toBe(true);
  });

  it.each([
    ...['0000-01-01', '2026-02-29', '1900-02-29', '10000-01-01', '+002026-01-01', '-000001-01-01'],
    ...['2026-01-31T00:00:00Z', '2026-01-31\n', ' 2026-01-31', '20260131', '2026/01/31', '2026-1-31'],
    ...['٢٠٢٦-٠١-٣١', '２０２６-０１-３１', ''],
  ])('rejects %j', (text) => {
    expect(isCalendarDate(text)).toBe(false);
  });

  it.each([undefined, null, 20260131, new Date(0), ['2026-01-31'], { toString: () => '2026-01-31' }, true])(
    'rejects a value that is not a string: %p',
    (value) => {
      expect(isCalendarDate(value)).toBe(false);
    },
  );

  it('agrees with `Date` on any text', () => {
    const dateLike = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789-')),
      minLength: 8,
      maxLength: 12,
    });
    const almostDate = fc
      .tuple(fc.nat(10_500), fc.nat(14), fc.nat(33))
      .map(([year, month, day]) => `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`);
    fc.assert(
      fc.property(fc.oneof(almostDate, dateLike, fc.string({ unit: anyCharacter })), (text) => {
        expect(isCalendarDate(text)).toBe(existsInUtc(text));
      }),
      { numRuns: timesOf(3_000, 1_000) },
    );
  });
});

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
