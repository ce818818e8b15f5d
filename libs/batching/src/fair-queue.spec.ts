import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FairQueue } from './fair-queue.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };

describe('FairQueue', () => {
  let queue: FairQueue;
  let now: number;
  let begun: string[];
  let ends: Map<string, (error?: Error) => void>;

  const run = (name: string, { key, caller }: { key?: string; caller?: string } = {}) =>
    queue.run(
      caller,
      () => {
        begun.push(name);
        return new Promise<string>((resolve, reject) =>
          ends.set(name, (error) => (error ? reject(error) : resolve(`${name} done`))),
        );
      },
      key,
    );
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error);
    await nextTurn();
    // The next task begins in the turn after.
    await nextTurn();
  };

  beforeEach(() => {
    now = 5_000;
    begun = [];
    ends = new Map();
    queue = new FairQueue(
      { queue: 3, wait: 1_000 },
      () => 2,
      () => now,
    );
  });

  it('runs as many tasks at a time as its size, and the next when one has ended, in order', async () => {
    const [first] = ['a', 'b', 'c', 'd'].map((name) => run(name));
    expect([begun, queue.length]).toEqual([['a', 'b'], 2]);
    await end('a');
    expect(await first).toBe('a done');
    expect([begun, queue.length]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('runs tasks with one key one after the other, and other tasks meanwhile', async () => {
    for (const name of ['a1', 'a2', 'a3']) void run(name, { key: 'a' });
    void run('b', { key: 'b' });
    expect(begun).toEqual(['a1', 'b']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b', 'a2']);
    await end('b');
    expect(begun).toEqual(['a1', 'b', 'a2']);
  });

  it('goes on after a task that fails, and after one that throws', async () => {
    const throwing = () => {
      throw new Error('at once');
    };
    await expect(queue.run(undefined, throwing, 'a')).rejects.toThrow('at once');
    await nextTurn();
    const failing = expect(run('a', { key: 'a' })).rejects.toThrow('no');
    const next = run('a2', { key: 'a' });
    await end('a', new Error('no'));
    await failing;
    await end('a2');
    expect(await next).toBe('a2 done');
  });

  it('refuses what finds too many waiting', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) void run(name);
    await expect(run('f')).rejects.toMatchObject(unavailable);
    expect([begun, queue.length]).toEqual([['a', 'b'], 3]);
  });

  it('takes one of each waiting caller in rotation', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name, { caller: 'a' });
    void run('b1', { caller: 'b' });
    await end('a1');
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
    void run('b2', { caller: 'b' });
    await end('a3');
    await end('b1');
    expect(begun.slice(4)).toEqual(['a4', 'b2']);
  });

  it('lets a caller past the tasks with one key that another caller waits for', async () => {
    for (const name of ['a1', 'a2', 'a3']) void run(name, { caller: 'a', key: 'log' });
    const own = run('b', { caller: 'b', key: 'log' });
    await end('a1');
    await end('a2');
    await end('b');
    expect(await own).toBe('b done');
    expect(begun).toEqual(['a1', 'a2', 'b', 'a3']);
  });

  it('refuses the newest task of the caller with the most, if another caller finds too many waiting', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name, { caller: 'a' });
    const newest = expect(run('a5', { caller: 'a' })).rejects.toMatchObject(unavailable);
    void run('b', { caller: 'b' });
    await newest;
    await end('a1');
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b']);
  });

  it('refuses what has waited too long, and begins what has not', async () => {
    for (const name of ['a', 'b']) void run(name);
    const late = expect(run('late')).rejects.toMatchObject(unavailable);
    now += 1_001;
    void run('c');
    await end('a');
    await late;
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
