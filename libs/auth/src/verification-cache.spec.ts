import { beforeEach, describe, expect, it } from '@jest/globals';
import { VerificationCache } from './verification-cache.js';

const verification = (id: string, validUntil: number) => ({ caller: { id, scopes: [] }, validUntil });

describe('VerificationCache', () => {
  let cache: VerificationCache;
  beforeEach(() => {
    cache = new VerificationCache(3);
  });

  it('is empty at first', () => {
    expect(cache.get('a', 0)).toBeUndefined();
  });

  it('keeps an entry until its end', () => {
    cache.set('a', verification('a', 100));
    expect(cache.get('a', 99.9)).toEqual(verification('a', 100));
    expect(cache.get('a', 100)).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it('keeps the result for a token without a caller', () => {
    cache.set('a', { caller: undefined, validUntil: 100 });
    expect(cache.get('a', 0)).toEqual({ caller: undefined, validUntil: 100 });
  });

  it('drops the oldest entry when it is full', () => {
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, verification(key, 100));
    expect(cache.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key, 0))).toEqual(['b', 'c', 'd']);
  });

  it('counts a renewed entry as new', () => {
    for (const key of ['a', 'b', 'c', 'a', 'd']) cache.set(key, verification(key, 100));
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key, 0))).toEqual(['a', 'c', 'd']);
  });

  it('replaces an entry', () => {
    cache.set('a', verification('old', 100));
    cache.set('a', verification('new', 200));
    expect(cache.get('a', 150)).toEqual(verification('new', 200));
    expect(cache.size).toBe(1);
  });
});
