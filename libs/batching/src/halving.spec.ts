import { describe, expect, it } from '@jest/globals';
import { halving } from './halving.js';

/** Takes numbers and gives them back doubled, but none of a batch that holds one of `refused`. */
function doubling(refused: readonly number[]) {
  const runs: (readonly number[])[] = [];
  const run = async (items: readonly number[]) => {
    runs.push(items);
    if (items.some((item) => refused.includes(item))) throw new Error(`not ${refused.join()}`);
    return items.map((item) => item * 2);
  };
  return { run, runs };
}

describe('halving', () => {
  it('hands all on together where nothing fails', async () => {
    const { run, runs } = doubling([]);
    expect(await halving([1, 2, 3], run, () => true)).toEqual([2, 4, 6]);
    expect(runs).toEqual([[1, 2, 3]]);
  });

  it('lets an item that is refused take no other with it, and keeps the order', async () => {
    const { run, runs } = doubling([3]);
    expect(await halving([1, 2, 3, 4, 5, 6, 7, 8], run, () => true)).toEqual([
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

  it('gives the error to all at once where halves would not change it', async () => {
    const { run, runs } = doubling([3]);
    expect(await halving([1, 2, 3], run, () => false)).toEqual(Array(3).fill(new Error('not 3')));
    expect(runs).toHaveLength(1);
  });
});
