import { describe, expect, it } from '@jest/globals';
import { Places } from './places.js';

describe('Places', () => {
  it('fit as many small messages as there are places', () => {
    const places = new Places(3);
    for (let message = 0; message < 3; message++) {
      expect(places.fit(100)).toBe(true);
      places.take(100);
    }
    expect(places.fit(0)).toBe(false);
    places.free(100);
    expect(places.fit(2_048)).toBe(true);
    expect(places.fit(2_049)).toBe(false);
  });

  it('fit one message of any length, alone', () => {
    const places = new Places(1);
    expect(places.fit(1_000_000)).toBe(true);
    places.take(1_000_000);
    expect(places.fit(1)).toBe(false);
    places.free(1_000_000);
    expect(places.fit(1)).toBe(true);
  });
});
