import { beforeEach, describe, expect, it } from '@jest/globals';
import { VerdictCache } from './verdict-cache.js';

const verdict = (id: string, validUntil: number) => ({ caller: { id, scopes: [] }, validUntil });

describe('VerdictCache', () => {
  let cache: VerdictCache;
  beforeEach(() => {
    cache = new VerdictCache(3);
  });

  it('knows nothing at first', () => {
    expect(cache.get('a', 0)).toBeUndefined();
  });

  it('remembers a verdict until its end, and then forgets it', () => {
    cache.set('a', verdict('a', 100));
    expect(cache.get('a', 99.9)).toEqual(verdict('a', 100));
    expect(cache.get('a', 100)).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it('remembers that there is no caller', () => {
    cache.set('a', { caller: undefined, validUntil: 100 });
    expect(cache.get('a', 0)).toEqual({ caller: undefined, validUntil: 100 });
  });

  it('drops the oldest where it would grow over its capacity', () => {
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, verdict(key, 100));
    expect(cache.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key, 0))).toEqual(['b', 'c', 'd']);
  });

  it('counts a verdict that was renewed as new', () => {
    for (const key of ['a', 'b', 'c', 'a', 'd']) cache.set(key, verdict(key, 100));
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key, 0))).toEqual(['a', 'c', 'd']);
  });

  it('replaces a verdict', () => {
    cache.set('a', verdict('old', 100));
    cache.set('a', verdict('new', 200));
    expect(cache.get('a', 150)).toEqual(verdict('new', 200));
    expect(cache.size).toBe(1);
  });
});
