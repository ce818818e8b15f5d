import { expect, it, describe } from '@jest/globals';
import { frozenCopy, isExactText, isMultipleOf, jsonFault } from './json.js';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { timesOf } from '../../test/support/extent.js';

/** Any character of Unicode. The unit 'binary' of fast-check has the same, but takes a second for its first text. */
const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));

const TOO_LARGE = 'must not contain a number above 9007199254740991 in magnitude: use a string';
const BOUNDS = { depth: 3, bytes: 100 };

describe('jsonFault', () => {
  it.each([
    [{}],
    [[]],
    [null],
    [''],
    [-0],
    [{ a: [{}] }],
    [{ a: undefined }],
    [{ ['__proto__']: 1 }],
    [Object.create(null)],
    [runInNewContext('({ of: ["another realm"] })')],
    ['x'.repeat(98)],
    [{ a: '😀'.repeat(23) }],
    [1e-90],
    [[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
  ])('accepts %j', (value) => {
    expect(jsonFault(value, BOUNDS)).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [undefined, 'must be JSON'],
    [[undefined], 'must be JSON'],
    [NaN, 'must be JSON'],
    [1n, 'must be JSON'],
    [() => 1, 'must be JSON'],
    [Symbol(''), 'must be JSON'],
    [new Date(0), 'must be JSON'],
    [new Map(), 'must be JSON'],
    [{ a: new (class Own {})() }, 'must be JSON'],
    ['\0', 'must not contain U+0000'],
    [{ a: ['b\0'] }, 'must not contain U+0000'],
    [{ ['\0']: 1 }, 'must not contain U+0000'],
    ['\ud83d', 'must not contain lone surrogates'],
    [{ ['\ude00\ud83d']: 1 }, 'must not contain lone surrogates'],
    [{ a: [{ b: [] }] }, 'must not be nested deeper than 3 levels'],
    ['x'.repeat(99), 'must be at most 100 bytes'],
    [{ a: '😀'.repeat(24) }, 'must be at most 100 bytes'],
    ...[2 ** 53, -(2 ** 53), 9007199254740992.5, 1e90, Infinity].map((number): [unknown, string] => [
      { a: [number] },
      TOO_LARGE,
    ]),
    [[Number.MIN_VALUE], 'must be at most 100 bytes'],
  ])('rejects %p: %s', (value, fault) => {
    expect(jsonFault(value, BOUNDS)).toBe(fault);
  });

  it('stops at a circular reference', () => {
    const circular: unknown[] = [];
    circular.push(circular);
    expect(jsonFault(circular, { depth: 1_000, bytes: 100 })).toBe(
      'must not be nested deeper than 1000 levels',
    );
  });

  it('accepts all JSON within the bounds that PostgreSQL can store', () => {
    const bounds = { depth: 20, bytes: 1_000_000 };
    const isExact = (value: unknown): boolean =>
      typeof value === 'object' && value !== null
        ? Object.values(value).every(isExact)
        : typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
    const textsIn = (value: unknown): string[] => {
      if (typeof value === 'string') return [value];
      return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(textsIn) : [];
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 5, stringUnit: anyCharacter }), (text) => {
        const value = JSON.parse(text) as unknown;
        const isStorable =
          isExact(value) && textsIn(value).every((one) => !one.includes('\0') && one.isWellFormed());
        expect(jsonFault(value, bounds) === undefined).toBe(isStorable);
        expect(JSON.stringify(frozenCopy(value))).toBe(JSON.stringify(value));
      }),
      { numRuns: timesOf(1_000, 100) },
    );
  });
});

it('a copy has no undefined field, no -0, and every other name', () => {
  const copy = frozenCopy({ a: undefined, b: -0, ['__proto__']: 1 }) as object;
  expect(Object.entries(copy)).toEqual([
    ['b', 0],
    ['__proto__', 1],
  ]);
});

it.each([
  [0.3, 0.1],
  [19.99, 0.01],
  [-0.7, 0.1],
  [1.1, 0.1],
  [0, 0.1],
  [4.35, 0.01],
  [3e-7, 1e-7],
  [1, 1e-7],
  [9007199254740991, 0.1],
  [9007199254740.99, 0.01],
  [1e-300, 1e-301],
  [7.5, 2.5],
  [6, 3],
])('%d is a multiple of %d', (value, divisor) => {
  expect(isMultipleOf(value, divisor)).toBe(true);
});

it.each([
  [0.30000000000000004, 0.1],
  [0.35, 0.1],
  [19.999, 0.01],
  [1e-8, 1e-7],
  [9007199254740991, 2],
  [9007199254740.99, 0.1],
  [7, 2.5],
])('%d is no multiple of %d', (value, divisor) => {
  expect(isMultipleOf(value, divisor)).toBe(false);
});

it.each(['0', '-0', '0e999999999', '0.1', '1.50', '10e-1', '-2.5E+3', '9007199254740991', '5e-324'])(
  'JavaScript reads %s exactly',
  (text) => {
    expect(isExactText(text)).toBe(true);
  },
);

it.each([
  '9007199254740993',
  '9007199254740991.3',
  '0.10000000000000000001',
  '1e-400',
  '1e400',
  '1e-999999999',
])('JavaScript reads another number from %s', (text) => {
  expect(isExactText(text)).toBe(false);
});
