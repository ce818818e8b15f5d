import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { MessageScheduler } from './message-scheduler.js';

/** Blocks the process for a number of milliseconds. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTick();
}

describe('MessageScheduler', () => {
  it('runs all tasks in order, and none synchronously', async () => {
    const scheduler = new MessageScheduler();
    const done: number[] = [];
    for (let i = 0; i < 1_000; i++) scheduler.schedule(() => done.push(i));
    expect(done).toEqual([]);
    await until(() => done.length === 1_000);
    expect(done).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  });

  it('lets other work of the process run in between', async () => {
    const scheduler = new MessageScheduler();
    let [done, others] = [0, 0];
    for (let i = 0; i < 20; i++) {
      scheduler.schedule(() => {
        block(10);
        done++;
      });
    }
    for (; done < 20; others++) await nextTick();
    expect(others).toBeGreaterThanOrEqual(20);
  });

  it('alternates between anonymous and authenticated connections', async () => {
    const scheduler = new MessageScheduler();
    const done: string[] = [];
    for (let i = 0; i < 4; i++) scheduler.schedule(() => done.push('anonymous'), 0, true);
    for (let i = 0; i < 2; i++) scheduler.schedule(() => done.push('authenticated'));
    await until(() => done.length === 6);
    expect(done).toEqual([
      ...['authenticated', 'anonymous', 'authenticated', 'anonymous'],
      ...['anonymous', 'anonymous'],
    ]);
  });

  it('delays the tasks of connections whose last task took longer', async () => {
    const scheduler = new MessageScheduler();
    const done: string[] = [];
    const small = () => {
      done.push('small');
      if (done.length < 100) scheduler.schedule(small);
    };
    scheduler.schedule(() => done.push('large'), 1);
    scheduler.schedule(() => done.push('larger'), 2);
    scheduler.schedule(small);
    await until(() => done.length === 100);
    const [large, larger] = [done.indexOf('large'), done.indexOf('larger')];
    expect(large).toBeGreaterThan(10);
    expect(larger).toBeGreaterThan(large + 10);
  });
});
