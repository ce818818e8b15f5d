import { beforeEach, describe, expect, it } from '@jest/globals';
import { VerificationCache } from './verification-cache.js';

const verification = (id: string, validUntil: number) => ({ caller: { id, scopes: [] }, validUntil });

describe('VerificationCache', () => {
  let cache: VerificationCache;
  beforeEach(() => {
    cache = new VerificationCache(3);
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
});
