import { expect, it } from '@jest/globals';
import { isExactText, isMultipleOf } from './decimal.js';

it.each([
  [0.3, 0.1],
  [19.99, 0.01],
  [-0.7, 0.1],
  [1.1, 0.1],
  [0, 0.1],
  [4.35, 0.01],
  [3e-7, 1e-7],
  [1, 1e-7],
  [9007199254740991, 0.1],
  [9007199254740.99, 0.01],
  [1e-300, 1e-301],
  [7.5, 2.5],
  [6, 3],
])('%d is a multiple of %d', (value, divisor) => {
  expect(isMultipleOf(value, divisor)).toBe(true);
});

it.each([
  [0.30000000000000004, 0.1],
  [0.35, 0.1],
  [19.999, 0.01],
  [1e-8, 1e-7],
  [9007199254740991, 2],
  [9007199254740.99, 0.1],
  [7, 2.5],
])('%d is no multiple of %d', (value, divisor) => {
  expect(isMultipleOf(value, divisor)).toBe(false);
});

it.each(['0', '-0', '0e999999999', '0.1', '1.50', '10e-1', '-2.5E+3', '9007199254740991', '5e-324'])(
  'JavaScript reads %s exactly',
  (text) => {
    expect(isExactText(text)).toBe(true);
  },
);

it.each([
  '9007199254740993',
  '9007199254740991.3',
  '0.10000000000000000001',
  '1e-400',
  '1e400',
  '1e-999999999',
])('JavaScript reads another number from %s', (text) => {
  expect(isExactText(text)).toBe(false);
});
