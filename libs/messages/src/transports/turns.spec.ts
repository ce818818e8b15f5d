import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

/** Keeps the process busy for some milliseconds. */
function toil(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

async function until(holds: () => boolean): Promise<void> {
  for (let left = 100_000; !holds(); left--) {
    if (left === 0) throw new Error(`not after 100,000 turns: ${String(holds)}`);
    await nextTurn();
  }
}

describe('Turns', () => {
  it('do all work in its order, and none of it at once', async () => {
    const turns = new Turns();
    const done: number[] = [];
    for (let i = 0; i < 1_000; i++) turns.take(() => done.push(i));
    expect(done).toEqual([]);
    await until(() => done.length === 1_000);
    expect(done).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  });

  it('let others of the process come in between', async () => {
    const turns = new Turns();
    let [done, others] = [0, 0];
    for (let i = 0; i < 20; i++) {
      turns.take(() => {
        toil(10);
        done++;
      });
    }
    for (; done < 20; others++) await nextTurn();
    expect(others).toBeGreaterThanOrEqual(20);
  });

  it('are given to strangers and others alternately, however many of a kind there are', async () => {
    const turns = new Turns();
    const done: string[] = [];
    for (let i = 0; i < 4; i++) turns.take(() => done.push('stranger'), 0, true);
    for (let i = 0; i < 2; i++) turns.take(() => done.push('known'));
    await until(() => done.length === 6);
    expect(done).toEqual(['known', 'stranger', 'known', 'stranger', 'stranger', 'stranger']);
  });

  it('come later for whose last turn took longer, and come', async () => {
    const turns = new Turns();
    const done: string[] = [];
    const small = () => {
      done.push('small');
      if (done.length < 100) turns.take(small);
    };
    turns.take(() => done.push('large'), 1);
    turns.take(() => done.push('larger'), 2);
    turns.take(small);
    await until(() => done.length === 100);
    const [large, larger] = [done.indexOf('large'), done.indexOf('larger')];
    expect(large).toBeGreaterThan(10);
    expect(larger).toBeGreaterThan(large + 10);
  });

  it('take work that other work brings', async () => {
    const turns = new Turns();
    let done = 0;
    const again = () => {
      if (++done < 100) turns.take(again);
    };
    turns.take(again);
    await until(() => done === 100);
    await nextTurn();
    expect(done).toBe(100);
  });
});
