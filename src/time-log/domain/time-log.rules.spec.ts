import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  dateFault,
  descriptionFault,
  durationFault,
  projectIdFault,
  projectIdsFault,
} from './time-log.rules.js';

describe('projectIdFault', () => {
  it.each([
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '11111111-1111-1111-1111-111111111111',
    '6BA7B810-9DAD-11D1-80B4-00C04FD430C8',
    '6ba7b810-9dad-11d1-80b4-00c04fD430C8',
  ])('accepts any UUID, whatever its version, variant and case: %s', (value) => {
    expect(projectIdFault(value)).toBeUndefined();
  });

  it.each([
    undefined,
    null,
    1,
    '',
    '11111111-1111-1111-1111-11111111111',
    '11111111-1111-1111-1111-1111111111111',
    '11111111111111111111111111111111',
    '{11111111-1111-1111-1111-111111111111}',
    'urn:uuid:11111111-1111-1111-1111-111111111111',
    '11111111-1111-1111-1111-11111111111g',
    ' 11111111-1111-1111-1111-111111111111',
    '11111111-1111-1111-1111-111111111111\n',
    '111111111-111-1111-1111-111111111111',
    ['11111111-1111-1111-1111-111111111111'],
  ])('rejects %p', (value) => {
    expect(projectIdFault(value)?.message).toBe('projectId must be a UUID');
  });
});

describe('projectIdsFault', () => {
  const id = '6BA7B810-9dad-11D1-80b4-00C04fD430C8';
  const listOf = (count: number) => Array<string>(count).fill(id).join();

  it.each([1, 2, 100])('accepts %p UUIDs', (count) => {
    expect(projectIdsFault(listOf(count))).toBeUndefined();
  });

  it.each([
    undefined,
    null,
    '',
    'x',
    listOf(101),
    `,${id}`,
    `${id},`,
    `${id},,${id}`,
    `${id}, ${id}`,
    `${id};${id}`,
    `${id}\n`,
    `${id},x`,
    `${id.slice(1)},${id}`,
    [id],
  ])('rejects %p', (value) => {
    expect(projectIdsFault(value)?.message).toBe(
      'projectId must be a UUID, or at most 100 separated by commas',
    );
  });
});

describe('durationFault', () => {
  it.each([1, 0.1, Number.MIN_VALUE, Number.MAX_VALUE, 1e21, 2 ** 53 + 2])('accepts %p', (value) => {
    expect(durationFault(value)).toBeUndefined();
  });

  it.each([undefined, null, 0, -0, -1, NaN, Infinity, -Infinity, '1', '', true, [1], {}, 1n])(
    'rejects %p',
    (value) => {
      expect(durationFault(value)?.message).toBe('duration must be a positive number');
    },
  );
});

describe('descriptionFault', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' \t\r\n '],
    ['5000 characters', 'x'.repeat(5000)],
    ['5000 characters outside the BMP', '😀'.repeat(5000)],
    ['noncharacters and control characters', '\uFFFE\uFFFF\u0001\u007F\uFEFF'],
  ])('accepts %s', (_what, value) => {
    expect(descriptionFault(value)).toBeUndefined();
  });

  it.each([
    ['5001 characters', 'x'.repeat(5001), 'description must be at most 5000 characters'],
    ['U+0000', 'a\0b', 'description must not contain U+0000'],
    ['a lone high surrogate', 'a\uD83D', 'description must not contain lone surrogates'],
    ['a lone low surrogate', '\uDE00a', 'description must not contain lone surrogates'],
    ['surrogates in the wrong order', '\uDE00\uD83D', 'description must not contain lone surrogates'],
    ['null', null, 'description must be a string'],
    ['no value', undefined, 'description must be a string'],
    ['a number', 5, 'description must be a string'],
    ['a list', ['a'], 'description must be a string'],
  ])('rejects %s', (_what, value, message) => {
    expect(descriptionFault(value)?.message).toBe(message);
  });

  it('counts code points, not code units', () => {
    const characters = fc.array(fc.constantFrom('x', '😀', 'é', '\u{10FFFF}'), { size: 'small' });
    fc.assert(
      fc.property(characters, fc.constantFrom(4999, 5000, 5001), (some, length) => {
        const text = some.join('') + '😀'.repeat(length - some.length);
        expect(descriptionFault(text) === undefined).toBe(length <= 5000);
      }),
    );
  });
});

/** Computes the same with `Date`: a day exists if its text is unchanged after parsing. */
function existsInUtc(text: string): boolean {
  const instant = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(instant.getTime()) && text >= '0001' && instant.toISOString().slice(0, -14) === text;
}

const pad = (value: number, length: number) => String(value).padStart(length, '0');

describe('dateFault', () => {
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
          const isDay = dateFault(text) === undefined;
          if (isDay !== existsInUtc(text)) wrong.push(text);
          if (isDay) days++;
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(days).toBeGreaterThan(365 * (last - first));
  });

  it.each([
    ...['0000-01-01', '2026-02-29', '1900-02-29', '10000-01-01', '+002026-01-01', '-000001-01-01'],
    ...['2026-01-31T00:00:00Z', '2026-01-31\n', ' 2026-01-31', '20260131', '2026/01/31', '2026-1-31'],
    ...['٢٠٢٦-٠١-٣١', '２０２６-０１-３１', '', undefined, null, 20260131, new Date(0), ['2026-01-31'], true],
    { toString: () => '2026-01-31' },
  ])('rejects %p', (value) => {
    expect(dateFault(value)?.message).toBe('date must be an existing day in the form YYYY-MM-DD');
  });
});
