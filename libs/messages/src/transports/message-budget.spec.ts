import { expect, it } from '@jest/globals';
import { MessageBudget } from './message-budget.js';

it('fits one small message for each slot, and one of any size alone', () => {
  const budget = new MessageBudget(3);
  expect(budget.fits(1_000_000)).toBe(true);
  for (let message = 0; message < 3; message++) {
    expect(budget.fits(100)).toBe(true);
    budget.reserve(100);
  }
  expect(budget.fits(0)).toBe(false);
  budget.release(100);
  expect(budget.fits(2_048)).toBe(true);
  expect(budget.fits(2_049)).toBe(false);
});
