import { beforeEach, describe, expect, it } from '@jest/globals';
import { Batcher } from './batcher.js';

interface Run {
  readonly items: readonly number[];
  readonly finish: () => void;
}

describe('Batcher', () => {
  let runs: Run[];
  let batcher: Batcher<number, string>;

  /** Waits for one iteration of the event loop. */
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  /** Ends the runs with these indexes, one after the other. */
  const finish = async (...numbers: number[]) => {
    for (const number of numbers) {
      runs[number]!.finish();
      await tick();
    }
  };

  beforeEach(() => {
    runs = [];
    batcher = new Batcher(
      (items) =>
        new Promise((resolve) => {
          runs.push({ items, finish: () => resolve(items.map((item) => `even ${item}`)) });
        }),
      { batch: 3, queue: 5, waitMs: 1_000, fullMessage: 'full' },
      () => false,
    );
  });

  it('runs the items that arrived during a run together, in order', async () => {
    const outcomes = [2, 4, 6, 8, 10].map((item) => batcher.add(item));
    for (let run = 0; run < 3; run++) {
      expect(runs).toHaveLength(run + 1);
      runs[run]!.finish();
      await tick();
    }
    expect(runs.map(({ items }) => items)).toEqual([[2], [4, 6, 8], [10]]);
    expect(await Promise.all(outcomes)).toEqual(['even 2', 'even 4', 'even 6', 'even 8', 'even 10']);
  });

  it('refuses an item at once if the queue is full, and accepts items when it has room again', async () => {
    const accepted = [0, 2, 4, 6, 8, 10].map((item) => batcher.add(item));
    await expect(batcher.add(12)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: 'full' });
    await finish(0);
    const later = batcher.add(14);
    await finish(1, 2);
    expect(runs.map(({ items }) => items)).toEqual([[0], [2, 4, 6], [8, 10, 14]]);
    expect(await Promise.all(accepted)).toHaveLength(6);
    expect(await later).toBe('even 14');
  });
});
