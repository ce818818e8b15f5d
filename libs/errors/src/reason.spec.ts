import { expect, it } from '@jest/globals';
import { reasonOf } from './reason.js';

it('says of each address of a name why it was not reached, where Node itself says nothing', () => {
  const reasons = ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.2:5432'];
  const error = new AggregateError(reasons.map((reason) => new Error(reason)));
  expect(reasonOf(error)).toBe(reasons.join(', '));
});

it('says what an error says, and nothing of anything else', () => {
  expect([reasonOf(new Error('no')), reasonOf('no')]).toEqual(['no', 'unknown']);
});
