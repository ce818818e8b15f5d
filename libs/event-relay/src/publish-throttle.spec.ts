import { describe, expect, it } from '@jest/globals';
import { nextAllowance } from './publish-throttle.js';

/** The allowance after so many turns, from the most there is. */
const after = (turns: number, utilization: number, allowance = 2_000) => {
  for (let turn = 0; turn < turns; turn++) allowance = nextAllowance(allowance, utilization);
  return allowance;
};

describe('the throttle of the relay', () => {
  it('falls while the process is busy, but never to nothing', () => {
    expect(after(1, 0.9)).toBe(1_000);
    expect(after(100, 1)).toBe(10);
  });

  it('rises again while the process has time', () => {
    expect(after(1, 0.5, 10)).toBe(13);
    expect(after(100, 0.5, 10)).toBe(2_000);
  });
});
