import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Limit } from './limit.js';

const WAIT_MS = 1_000;
const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };

describe('Limit', () => {
  let limit: Limit;
  let begun: string[];
  let ends: Map<string, (error?: Error) => void>;

  const run = (name: string, caller?: string, options?: { key?: string; waitMs?: number }) =>
    limit.run(
      caller,
      () => {
        begun.push(name);
        return new Promise<string>((resolve, reject) =>
          ends.set(name, (error) => (error ? reject(error) : resolve(`${name} done`))),
        );
      },
      options,
    );
  const runAll = async (names: string, caller?: string) => {
    for (const name of names.split(' ')) void run(name, caller);
    await settle();
  };
  /** Lets the tasks begin whose time has come. */
  const settle = () => jest.advanceTimersByTimeAsync(0);
  const end = async (...names: string[]) => {
    for (const name of names) {
      ends.get(name)!();
      await settle();
    }
  };

  beforeEach(() => {
    jest.useFakeTimers();
    begun = [];
    ends = new Map();
    limit = new Limit(() => 2, WAIT_MS);
  });
  afterEach(() => void jest.useRealTimers());

  it('runs as many tasks at a time as its size, and the next in order when one ends', async () => {
    const first = run('a');
    await runAll('b c d');
    expect([begun, limit.length]).toEqual([['a', 'b'], 2]);
    await end('a');
    expect(await first).toBe('a done');
    expect([begun, limit.length]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('gives one caller all places while no other waits', async () => {
    limit = new Limit(() => 8, WAIT_MS);
    await runAll('1 2 3 4 5 6 7 8 9', 'ada');
    await end('1');
    expect(begun).toHaveLength(9);
  });

  it('gives one caller at most a quarter while another waits that has less', async () => {
    limit = new Limit(() => 8, WAIT_MS);
    await runAll('1 2 3 4 5 6 7 8 9 10 11', 'ada');
    await runAll('a b c d', 'bob');
    await end('1', '2');
    expect(begun.slice(8)).toEqual(['a', 'b']);
    // Both have a quarter or more: no place stays free.
    await end('3', '4');
    expect(begun.slice(10)).toEqual(['9', '10']);
    await end('a');
    expect(begun.slice(12)).toEqual(['c']);
    await runAll('x', 'eve');
    await end('5');
    expect(begun.slice(13)).toEqual(['x']);
  });

  it.each([1, 2])('lets callers take turns if there are few places: %d', async (size) => {
    limit = new Limit(() => size, WAIT_MS);
    await runAll('a1 a2 a3 a4 a5', 'ada');
    await runAll('b1 b2', 'bob');
    for (let index = 0; index < 7; index++) await end(begun[index]!);
    const order = size === 1 ? 'a1 b1 a2 b2 a3 a4 a5' : 'a1 a2 b1 a3 b2 a4 a5';
    expect(begun.join(' ')).toBe(order);
  });

  it('runs tasks with the same key one at a time, and others meanwhile', async () => {
    for (const name of ['a1', 'a2', 'a3']) void run(name, undefined, { key: 'a' });
    void run('b', undefined, { key: 'b' });
    await settle();
    expect(begun).toEqual(['a1', 'b']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b', 'a2']);
    await end('a2', 'a3', 'b');
    expect([begun.length, limit.length]).toEqual([4, 0]);
  });

  it('refuses a task that has waited too long, and never begins it', async () => {
    await runAll('a b');
    const late = expect(run('c')).rejects.toMatchObject(unavailable);
    const patient = run('d', undefined, { waitMs: Infinity });
    await jest.advanceTimersByTimeAsync(WAIT_MS);
    await late;
    await end('a');
    expect(begun).toEqual(['a', 'b', 'd']);
    await jest.advanceTimersByTimeAsync(WAIT_MS);
    await end('d');
    expect(await patient).toBe('d done');
  });

  it('rejects with the error of a task, also one that throws at once, and goes on', async () => {
    const failed = expect(run('a')).rejects.toThrow('no');
    await settle();
    ends.get('a')!(new Error('no'));
    await failed;
    const thrown = limit.run('ada', () => {
      throw new Error('at once');
    });
    await expect(thrown).rejects.toThrow('at once');
    await runAll('b c');
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
