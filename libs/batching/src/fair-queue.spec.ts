import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTick } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FairQueue } from './fair-queue.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };

describe('FairQueue', () => {
  let queue: FairQueue;
  let now: number;
  let begun: string[];
  let ends: Map<string, (error?: Error) => void>;

  const run = (
    name: string,
    { key, caller, ...options }: { key?: string; caller?: string; weight?: number; wait?: number } = {},
  ) =>
    queue.run(
      caller,
      () => {
        begun.push(name);
        return new Promise<string>((resolve, reject) =>
          ends.set(name, (error) => (error ? reject(error) : resolve(`${name} done`))),
        );
      },
      key,
      options,
    );
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error);
    await nextTick();
    // The next task begins one iteration of the event loop later.
    await nextTick();
  };

  beforeEach(() => {
    now = 5_000;
    begun = [];
    ends = new Map();
    queue = new FairQueue(
      { queue: 3, wait: 1_000, fullMessage: 'full' },
      () => 2,
      () => now,
    );
  });

  it('runs as many tasks at a time as its size, and the next in order when one ends', async () => {
    const [first] = ['a', 'b', 'c', 'd'].map((name) => run(name));
    expect([begun, queue.length]).toEqual([['a', 'b'], 2]);
    await end('a');
    expect(await first).toBe('a done');
    expect([begun, queue.length]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('runs tasks with the same key one at a time, and other tasks meanwhile', async () => {
    for (const name of ['a1', 'a2', 'a3']) void run(name, { key: 'a' });
    void run('b', { key: 'b' });
    expect(begun).toEqual(['a1', 'b']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b', 'a2']);
    await end('b');
    expect(begun).toEqual(['a1', 'b', 'a2']);
  });

  it('continues after a task that fails, and after a task that throws', async () => {
    const throwing = () => {
      throw new Error('at once');
    };
    await expect(queue.run(undefined, throwing, 'a')).rejects.toThrow('at once');
    await nextTick();
    const failing = expect(run('a', { key: 'a' })).rejects.toThrow('no');
    const next = run('a2', { key: 'a' });
    await end('a', new Error('no'));
    await failing;
    await end('a2');
    expect(await next).toBe('a2 done');
  });

  it('refuses a task if too many wait', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) void run(name);
    await expect(run('f')).rejects.toMatchObject({ ...unavailable, message: 'full' });
    expect([begun, queue.length]).toEqual([['a', 'b'], 3]);
  });

  it('begins a task that has waited in its own asynchronous context', async () => {
    const storage = new AsyncLocalStorage<string>();
    const contexts: unknown[] = [];
    const runs = ['a', 'b', 'c', 'd'].map((name) =>
      storage.run(name, () => queue.run(name, async () => void contexts.push(storage.getStore()))),
    );
    await Promise.all(runs);
    expect(contexts).toEqual(['a', 'b', 'c', 'd']);
  });

  it('serves the waiting callers in rotation', async () => {
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

  it('serves a caller before the other waiting tasks with the same key of another caller', async () => {
    for (const name of ['a1', 'a2', 'a3']) void run(name, { caller: 'a', key: 'log' });
    const own = run('b', { caller: 'b', key: 'log' });
    await end('a1');
    await end('a2');
    await end('b');
    expect(await own).toBe('b done');
    expect(begun).toEqual(['a1', 'a2', 'b', 'a3']);
  });

  it('refuses the newest task of the caller with the most if another caller needs room', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name, { caller: 'a' });
    const newest = expect(run('a5', { caller: 'a' })).rejects.toMatchObject(unavailable);
    void run('b', { caller: 'b' });
    await newest;
    await end('a1');
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b']);
  });

  it('counts a task by its weight, at most as all of the queue', async () => {
    for (const name of ['a', 'b']) void run(name);
    const heavy = run('heavy', { caller: 'a', weight: 1_000 });
    expect(queue.length).toBe(3);
    const refused = expect(heavy).rejects.toMatchObject({ message: 'full' });
    void run('light', { caller: 'b', weight: 2 });
    await refused;
    const next = run('next', { caller: 'c' });
    expect(queue.length).toBe(3);
    await end('a');
    await end('b');
    await end('next');
    expect([await next, begun]).toEqual(['next done', ['a', 'b', 'light', 'next']]);
  });

  it('lets a task with a wait of its own wait in a full queue, and takes no room of others', async () => {
    for (const name of ['a', 'b']) void run(name);
    const late = ['c', 'd', 'e'].map((name) => expect(run(name)).rejects.toMatchObject(unavailable));
    const patient = run('patient', { caller: 'p', wait: 5_000 });
    const impatient = expect(run('impatient', { caller: 'q', wait: 10 })).rejects.toMatchObject(unavailable);
    expect(queue.length).toBe(5);
    await expect(run('f')).rejects.toMatchObject({ message: 'full' });
    now += 1_001;
    await end('a');
    await Promise.all([impatient, ...late]);
    expect(begun).toEqual(['a', 'b', 'patient']);
    await end('patient');
    expect(await patient).toBe('patient done');
  });

  it('reports the weight and the wait of each task', async () => {
    const observed: number[] = [];
    const observer = { observe: (value: number) => void observed.push(value) };
    queue.observers = { size: observer, wait: observer };
    for (const name of ['a', 'b']) void run(name, { weight: 2 });
    void run('c', { weight: 3 });
    now += 500;
    await end('a');
    expect(observed).toEqual([2, 0, 2, 0, 3, 0.5]);
  });

  it('refuses a task that has waited too long, and begins the others', async () => {
    for (const name of ['a', 'b']) void run(name);
    const late = expect(run('late')).rejects.toMatchObject(unavailable);
    now += 1_001;
    void run('c');
    await end('a');
    await late;
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
