import { beforeEach, describe, expect, it } from '@jest/globals';
import { Lanes } from './lanes.js';

const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };

describe('Lanes', () => {
  let lanes: Lanes;
  let now: number;
  let begun: string[];
  let ends: Map<string, (error?: Error) => void>;

  /** Lets everything run that waits for nothing but its turn. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const run = (name: string, turn?: string) =>
    lanes.run(() => {
      begun.push(name);
      return new Promise<string>((resolve, reject) =>
        ends.set(name, (error) => (error ? reject(error) : resolve(`${name} done`))),
      );
    }, turn);
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error);
    await settle();
  };

  beforeEach(() => {
    now = 5_000;
    begun = [];
    ends = new Map();
    lanes = new Lanes(
      () => 2,
      { queue: 3, wait: 1_000 },
      () => now,
    );
  });

  it('runs as many at a time as there are lanes, and the next where one has ended, in order', async () => {
    const [first] = ['a', 'b', 'c', 'd'].map((name) => run(name));
    expect([begun, lanes.length]).toEqual([['a', 'b'], 2]);
    await end('a');
    expect(await first).toBe('a done');
    expect([begun, lanes.length]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('runs those of one turn one after the other, and others past them', async () => {
    for (const name of ['a1', 'a2', 'a3']) void run(name, 'a');
    void run('b', 'b');
    expect(begun).toEqual(['a1', 'b']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b', 'a2']);
    await end('b');
    expect(begun).toEqual(['a1', 'b', 'a2']);
  });

  it('goes on after work that fails', async () => {
    const failing = expect(run('a', 'a')).rejects.toThrow('no');
    const next = run('a2', 'a');
    await end('a', new Error('no'));
    await failing;
    await end('a2');
    expect(await next).toBe('a2 done');
  });

  it('refuses what finds too many waiting', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) void run(name);
    await expect(run('f')).rejects.toMatchObject(unavailable);
    expect(begun).toEqual(['a', 'b']);
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
