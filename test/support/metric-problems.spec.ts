import { expect, it } from '@jest/globals';
import { BAD_METRICS, metricProblems } from './metric-problems.js';

it.each(Object.entries(BAD_METRICS))('%s', (problem, text) => {
  expect(metricProblems(text)).toEqual([problem]);
});
