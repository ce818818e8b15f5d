import { describe, expect, it } from '@jest/globals';
import { nextAllowance } from './publish-throttle.js';

/** Returns the allowance after a number of ticks, by default from the maximum. */
const after = (ticks: number, utilization: number, allowance = 2_000) => {
  for (let tick = 0; tick < ticks; tick++) allowance = nextAllowance(allowance, utilization);
  return allowance;
};

describe('the allowance of PublishThrottle', () => {
  it('falls while the process is busy, but not to 0', () => {
    expect(after(1, 0.9)).toBe(1_000);
    expect(after(100, 1)).toBe(10);
  });

  it('rises again while the process is not busy', () => {
    expect(after(1, 0.5, 10)).toBe(13);
    expect(after(100, 0.5, 10)).toBe(2_000);
  });
});
