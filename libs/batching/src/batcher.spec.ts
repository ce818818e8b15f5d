import { beforeEach, describe, expect, it } from '@jest/globals';
import { Batcher, type BatcherLimits } from './batcher.js';

interface Run {
  readonly items: readonly number[];
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

const LIMITS: BatcherLimits = {
  batch: 3,
  queue: 5,
  wait: 1_000,
  fullMessage: 'full',
};
const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };

describe('Batcher', () => {
  let runs: Run[];
  let batcher: Batcher<number, string>;
  let now: number;

  const create = (limits = LIMITS, isItemError = () => false) =>
    new Batcher<number, string>(
      (items) =>
        new Promise((resolve, reject) => {
          runs.push({
            items,
            // Odd items fail.
            finish: () =>
              resolve(items.map((item) => (item % 2 ? new Error(`odd ${item}`) : `even ${item}`))),
            fail: reject,
          });
        }),
      limits,
      isItemError,
      () => now,
    );
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
    now = 5_000;
    batcher = create();
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

  it('fails all items of a run that fails, and only its own item of the next run', async () => {
    const outcomes = Promise.allSettled([2, 4, 6, 9].map((item) => batcher.add(item)));
    const reason = new Error('lost');
    await finish(0);
    runs[1]!.fail(reason);
    await tick();
    runs[2]!.finish();
    expect(runs.map(({ items }) => items)).toEqual([[2], [4, 6], [9]]);
    expect(await outcomes).toEqual([
      { status: 'fulfilled', value: 'even 2' },
      { status: 'rejected', reason },
      { status: 'rejected', reason },
      { status: 'rejected', reason: new Error('odd 9') },
    ]);
  });

  it('runs each half of a failed run by itself if one item may be the cause, so that it fails alone', async () => {
    batcher = create({ batch: 8, queue: 8, wait: 1_000 }, () => true);
    const outcomes = Promise.allSettled([0, 2, 4, 6, 8, 10, 12, 14].map((item) => batcher.add(item)));
    const reason = new Error('not 6');
    await finish(0);
    for (let run = 1; run < 7; run++) {
      if (runs[run]!.items.includes(6)) runs[run]!.fail(reason);
      else runs[run]!.finish();
      await tick();
    }
    expect(runs.map(({ items }) => items)).toEqual([
      [0],
      [2, 4, 6, 8],
      [2, 4],
      [6, 8],
      [6],
      [8],
      [10, 12, 14],
    ]);
    expect(await outcomes).toEqual(
      [0, 2, 4, 6, 8, 10, 12, 14].map((item) =>
        item === 6 ? { status: 'rejected', reason } : { status: 'fulfilled', value: `even ${item}` },
      ),
    );
  });

  it('refuses an item at once if the queue is full, and accepts items when it has room again', async () => {
    const accepted = [0, 2, 4, 6, 8, 10].map((item) => batcher.add(item));
    await expect(batcher.add(12)).rejects.toMatchObject({ ...unavailable, message: 'full' });
    await finish(0);
    const later = batcher.add(14);
    await finish(1, 2);
    expect(runs.map(({ items }) => items)).toEqual([[0], [2, 4, 6], [8, 10, 14]]);
    expect(await Promise.all(accepted)).toHaveLength(6);
    expect(await later).toBe('even 14');
  });

  it('fills runs with items that have a wait of their own, which find room in a full queue', async () => {
    const patient = [20, 22, 24, 26].map((item) => batcher.add(item, 5_000));
    const late = expect(batcher.add(28, 10)).rejects.toMatchObject(unavailable);
    const others = [0, 2, 4, 6, 8].map((item) => batcher.add(item));
    expect(batcher.length).toBe(9);
    now += 11;
    await finish(0);
    await late;
    now += 980;
    await finish(1, 2, 3);
    expect(runs.map(({ items }) => items)).toEqual([[20], [0, 2, 4], [6, 8, 22], [24, 26]]);
    expect(await Promise.all([...patient, ...others])).toHaveLength(9);
  });

  it('reserves a share of each run for items with a wait of their own, however many others wait', async () => {
    batcher = create({ batch: 4, queue: 20, wait: 1_000 });
    const outcomes = [batcher.add(0), ...[20, 22].map((item) => batcher.add(item, 5_000))];
    outcomes.push(...[2, 4, 6, 8, 10, 12, 14, 16].map((item) => batcher.add(item)));
    await finish(0, 1, 2, 3);
    expect(runs.map(({ items }) => items)).toEqual([[0], [2, 4, 6, 20], [8, 10, 12, 22], [14, 16]]);
    expect(await Promise.all(outcomes)).toHaveLength(11);
  });
});
