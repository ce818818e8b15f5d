import { describe, expect, it } from '@jest/globals';
import { bisect } from './bisect.js';

/** Returns a run that doubles numbers and fails for a batch with one of `refused`. */
function doubling(refused: readonly number[]) {
  const runs: (readonly number[])[] = [];
  const run = async (items: readonly number[]) => {
    runs.push(items);
    if (items.some((item) => refused.includes(item))) throw new Error(`not ${refused.join()}`);
    return items.map((item) => item * 2);
  };
  return { run, runs };
}

describe('bisect', () => {
  it('runs all items together if no run fails', async () => {
    const { run, runs } = doubling([]);
    expect(await bisect([1, 2, 3], run, () => true)).toEqual([2, 4, 6]);
    expect(runs).toEqual([[1, 2, 3]]);
  });

  it('fails only the bad item, and keeps the order', async () => {
    const { run, runs } = doubling([3]);
    expect(await bisect([1, 2, 3, 4, 5, 6, 7, 8], run, () => true)).toEqual([
      2,
      4,
      new Error('not 3'),
      8,
      10,
      12,
      14,
      16,
    ]);
    expect(runs).toHaveLength(7);
  });

  it('gives all items an error that no single item causes', async () => {
    const { run, runs } = doubling([3]);
    expect(await bisect([1, 2, 3], run, () => false)).toEqual(Array(3).fill(new Error('not 3')));
    expect(runs).toHaveLength(1);
  });
});
