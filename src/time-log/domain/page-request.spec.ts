import { describe, expect, it } from '@jest/globals';
import { PageRequest, MAX_PAGE_LIMIT, pageLimitFault, pageNumberFault } from './page-request.js';

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

  it.each([
    [0, 50, NUMBER_FAULT],
    ...[-1, 1.5, NaN, Infinity, 2 ** 53, 1e21].map((number) => [number, 50, NUMBER_FAULT] as const),
    ...[0, MAX_PAGE_LIMIT + 1, 0.5].map((limit) => [1, limit, LIMIT_FAULT] as const),
    [0, 0, `${NUMBER_FAULT}; ${LIMIT_FAULT}`],
  ])('rejects page %p of %p items', (number, limit, message) => {
    const error: unknown = expect.objectContaining({ code: 'VALIDATION_ERROR', message });
    expect(() => PageRequest.of(number, limit)).toThrow(error);
  });
});

describe.each([
  ['pageNumberFault', pageNumberFault, NUMBER_FAULT],
  ['pageLimitFault', pageLimitFault, LIMIT_FAULT],
] as const)('%s', (_name, fault, message) => {
  it.each(['1', '9', '1000', '0001', 1, 1000])('accepts %p', (text) => {
    expect(fault(text)).toBeUndefined();
  });

  it.each(['', '0', '00', '-1', '+1', '1.0', '1e2', '0x1', ' 1', '1 ', '1\n', '١', 'one', 'NaN', 'Infinity'])(
    'rejects %p',
    (text) => {
      expect(fault(text)?.message).toBe(message);
    },
  );

  it.each([undefined, null, true, 1.5, NaN, 0, 2 ** 53, 1e21, ['1'], 1n])(
    'rejects a value that is not a whole number: %p',
    (value) => {
      expect(fault(value)?.message).toBe(message);
    },
  );
});

it('accepts page numbers up to 2^53-1', () => {
  expect(pageNumberFault('9007199254740991')).toBeUndefined();
  expect(pageNumberFault('9007199254740992')?.message).toBe(NUMBER_FAULT);
  expect(pageNumberFault('9007199254740993')?.message).toBe(NUMBER_FAULT);
  expect(pageNumberFault('9'.repeat(400))?.message).toBe(NUMBER_FAULT);
});

it('accepts limits up to 1000', () => {
  expect(pageLimitFault('1000')).toBeUndefined();
  expect(pageLimitFault('1001')?.message).toBe(LIMIT_FAULT);
});
