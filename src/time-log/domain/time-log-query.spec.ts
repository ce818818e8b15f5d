import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  PageRequest,
  pageLimitFault,
  pageNumberFault,
  Period,
  periodEndFault,
  periodOrderFault,
} from './time-log-query.js';

const DAY = '2026-01-31';
const FORM_FAULT =
  'must be an existing day, as YYYY-MM-DD or YYYY-MM-DDThh:mm[:ss[.fraction]][Z|+hh:mm|-hh:mm] with hh from 00 to 23';

const twoDigits = (maximum: number) => fc.nat(maximum).map((value) => String(value).padStart(2, '0'));
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
const maybe = (text: fc.Arbitrary<string>) => fc.oneof(fc.constant(''), text);
const colon = fc.constant(':');
const fraction = fc.stringMatching(/^\.[0-9]{1,20}$/);
const offset = joined(fc.constantFrom('+', '-', ' '), twoDigits(23), colon, twoDigits(59));
/** A valid time of day, with the separator before it. */
const timeOfDay = joined(
  fc.constantFrom('T', 't', ' '),
  joined(twoDigits(23), colon, twoDigits(59)),
  maybe(joined(colon, twoDigits(59), maybe(fraction))),
  maybe(fc.oneof(fc.constantFrom('Z', 'z'), offset)),
);

describe('Period.of', () => {
  it('is open if an end is missing', () => {
    expect(Period.of()).toEqual({ from: undefined, to: undefined });
    expect(Period.of(DAY)).toEqual({ from: DAY, to: undefined });
    expect(Period.of(undefined, DAY)).toEqual({ from: undefined, to: DAY });
  });

  it('compares days, not instants', () => {
    expect(Period.of('2026-01-31T23:00Z', '2026-01-31T01:00Z')).toMatchObject({ from: DAY, to: DAY });
    expect(Period.of('2026-01-31T23:00-12:00', '2026-01-31T01:00+12:00')).toMatchObject({ from: DAY });
  });

  it.each([
    ['2026-02-01', '2026-01-31', 'from must not be after to'],
    ['x', undefined, `from ${FORM_FAULT}`],
    [undefined, 'x', `to ${FORM_FAULT}`],
    ['x', '', `from ${FORM_FAULT}; to ${FORM_FAULT}`],
  ])('rejects %p to %p', (from, to, message) => {
    const error: unknown = expect.objectContaining({ code: 'VALIDATION_ERROR', message });
    expect(() => Period.of(from, to)).toThrow(error);
  });
});

describe('periodEndFault', () => {
  it('accepts any time of day, and Period keeps the day as written', () => {
    fc.assert(
      fc.property(timeOfDay, (time) => {
        expect(periodEndFault('from', DAY + time)).toBeUndefined();
        expect(Period.of(DAY + time).from).toBe(DAY);
      }),
      { numRuns: 1_000 },
    );
  });

  // The message must not promise all of ISO 8601, which has these forms too.
  it.each(
    [
      [
        '2026-01-31T00:00:00+0000',
        '2026-01-31T00:00:00+00',
        '2026-01-31T00:00:00,123Z',
        '2026-01-31T24:00:00Z',
      ],
      [
        '2026-01-31T00:00:00−01:00',
        '20260131T000000Z',
        '2026-W01-1',
        '2026W011',
        '--01-31',
        '2026-01-31/P1D',
      ],
      ['', '2026', '2026-01', '2026-02-29', '0000-01-01', '10000-01-01', '20260131', '2026-W05-6'],
      ['2026-031', '2026-01-31T', '2026-01-31T09', '2026-01-31T0930', '2026-01-31T24:00'],
      ['2026-01-31T09:60', '2026-01-31T09:30:61', '2026-01-31T09:30:00.', '2026-01-31T09:30:00,5'],
      ['2026-01-31T09:30.5', '2026-01-31T09:30+', '2026-01-31T09:30+05', '2026-01-31T09:30+0530'],
      ['2026-01-31T09:30+24:00', '2026-01-31T09:30+05:60', '2026-01-31T09:30+05:30Z'],
      ['2026-01-31T09:30 Z', '2026-01-31T09:30Z\n', '2026-01-31  09:30', '2026-01-31_09:30'],
      ['2026-02-29T09:30Z', ' 2026-01-31', '2026-01-31 ', '1769850600', 'today'],
    ].flat(),
  )('rejects %p', (text) => {
    expect(periodEndFault('to', text)?.message).toBe(`to ${FORM_FAULT}`);
  });

  it.each([undefined, null, 20260131, ['2026-01-31']])('rejects a value that is not text: %p', (value) => {
    expect(periodEndFault('from', value)?.message).toBe(`from ${FORM_FAULT}`);
  });
});

describe('periodOrderFault', () => {
  it('returns an error only if both ends are days', () => {
    expect(periodOrderFault('2026-02-01', '2026-01-31')?.message).toBe('from must not be after to');
    expect(periodOrderFault('2026-02-01', 'x')).toBeUndefined();
    expect(periodOrderFault('z', '2026-01-31')).toBeUndefined();
    expect(periodOrderFault('2026-02-01', undefined)).toBeUndefined();
  });
});

const NUMBER_FAULT = 'page must be a whole number from 1 to 2^53-1';
const LIMIT_FAULT = 'limit must be a whole number from 1 to 1000';

describe('PageRequest.of', () => {
  it.each([
    [1, 50, 0n],
    [2, 50, 50n],
    [3, 1, 2n],
    [Number.MAX_SAFE_INTEGER, 1000, 9_007_199_254_740_990_000n],
  ])('page %i of %i items comes after %i items', (number, limit, offset) => {
    expect(PageRequest.of(number, limit)).toMatchObject({ number, limit, offset });
  });

  it('reports both faults', () => {
    const message = `${NUMBER_FAULT}; ${LIMIT_FAULT}`;
    const error: unknown = expect.objectContaining({ code: 'VALIDATION_ERROR', message });
    expect(() => PageRequest.of(0, 0)).toThrow(error);
  });
});

describe.each([
  ['pageNumberFault', pageNumberFault, '9007199254740991', '9007199254740992', NUMBER_FAULT],
  ['pageLimitFault', pageLimitFault, '1000', '1001', LIMIT_FAULT],
] as const)('%s', (_name, fault, greatest, tooGreat, message) => {
  it.each(['1', '9', '0001', 1, 1000, greatest])('accepts %p', (text) => {
    expect(fault(text)).toBeUndefined();
  });

  it.each([
    ...['', '0', '00', '-1', '+1', '1.0', '1e2', '0x1', ' 1', '1 ', '1\n', '١', 'one', 'NaN', 'Infinity'],
    ...[tooGreat, '9'.repeat(400)],
    ...[undefined, null, true, -1, 1.5, NaN, Infinity, 0, 2 ** 53, 1e21, ['1'], 1n],
  ])('rejects %p', (value) => {
    expect(fault(value)?.message).toBe(message);
  });
});
