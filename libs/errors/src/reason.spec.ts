import { expect, it } from '@jest/globals';
import { reasonOf } from './reason.js';

it('returns the message of each address of a host name if the error itself has none', () => {
  const reasons = ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.2:5432'];
  const error = new AggregateError(reasons.map((reason) => new Error(reason)));
  expect(reasonOf(error)).toBe(reasons.join(', '));
});

it('returns the message of an error, and nothing of another value', () => {
  expect([reasonOf(new Error('no')), reasonOf('no')]).toEqual(['no', 'unknown']);
});
