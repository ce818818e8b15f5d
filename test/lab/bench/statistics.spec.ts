import { describe, expect, it } from '@jest/globals';
import { median, percentile, percentiles } from './statistics.js';

describe('statistics', () => {
  it('takes the number at the nearest rank', () => {
    const sorted = Array.from({ length: 200 }, (_, index) => index + 1);
    expect([0, 0.5, 0.99, 1].map((share) => percentile(sorted, share))).toEqual([1, 100, 198, 200]);
  });

  it('sorts numbers before it takes some', () => {
    expect(percentiles([300, 20, 1], 0.5, 1)).toEqual(['20.0', '300.0']);
  });

  it('takes the middle of two medians', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([7])]).toEqual([2, 2.5, 7]);
  });

  it('knows nothing about nothing', () => {
    expect([median([]), percentile([], 0.5)]).toEqual([NaN, NaN]);
  });
});
