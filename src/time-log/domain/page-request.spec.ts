import { describe, expect, it } from '@jest/globals';
import { PageRequest, pageLimitFault, pageNumberFault } from './page-request.js';

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
