import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DomainError } from '../../../libs/errors/src/index.js';
import type { Database } from '../../database/index.js';
import { TimeLogSweep } from './time-log-sweep.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

type Change = (sql: string, parameters?: readonly unknown[]) => Promise<unknown[]>;

/** Returns a sweep over a database that is open while `state` says so. */
function newSweep(change: Change, state = { isOpen: true }): TimeLogSweep {
  const database = { routine: (name: string) => name, table: () => 'time_log_keys', change };
  return new TimeLogSweep(Object.assign(state, database) as unknown as Database, `interval '24 hours'`);
}

it('halves the number of logs after a fold that fails, and doubles it after one that succeeds', async () => {
  const sizes: unknown[] = [];
  const outcomes = [new DomainError('SERVICE_UNAVAILABLE'), 100, 100];
  const sweep = newSweep(async (sql, [size] = []) => {
    if (!sql.includes('fold')) return [{ removed: 0 }];
    sizes.push(size);
    const outcome = outcomes.shift();
    if (outcome instanceof Error) throw outcome;
    return [{ folded: outcome }];
  });
  for (let fold = 0; fold < 3; fold++) {
    sweep.begin(1);
    await jest.advanceTimersByTimeAsync(1_000);
  }
  expect(sizes).toEqual([8_192, 4_096, 8_192]);
});

it('folds immediately if many logs wait, and after a second if few do', async () => {
  const change = jest.fn(async () => [{ folded: 0 }]);
  const sweep = newSweep(change);
  sweep.begin(2_048);
  await jest.advanceTimersByTimeAsync(0);
  // One statement removes keys.
  expect(change).toHaveBeenCalledTimes(2);
  sweep.begin(1);
  await jest.advanceTimersByTimeAsync(999);
  expect(change).toHaveBeenCalledTimes(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(change).toHaveBeenCalledTimes(3);
});
