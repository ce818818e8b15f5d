import { expect, it } from '@jest/globals';
import { reasonOf, type Fault, faultOf, throwFaults } from './domain-error.js';

const DURATION = faultOf('duration', 0, 'range', 'must be positive', { above: 0 });
const UNKNOWN: Fault = {
  field: 'foo',
  rule: 'unknown',
  params: {},
  message: 'unknown field: foo',
  logged: 'unknown field',
};

it('a missing value violates the rule `required`, in the words of its other rules', () => {
  expect(faultOf('date', undefined, 'date', 'must be a day', { max: 1 })).toEqual({
    field: 'date',
    rule: 'required',
    params: {},
    message: 'date must be a day',
  });
});

it('throwFaults throws the messages and issues of the faults that there are, if any', () => {
  throwFaults([]);
  throwFaults([undefined]);
  const secret = { ...UNKNOWN, field: 'bar', message: 'unknown field: bar' };
  expect(() => throwFaults([DURATION, undefined, UNKNOWN, secret])).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: 'duration must be positive; unknown field: foo; unknown field: bar',
      logged: 'duration must be positive; unknown field',
      issues: [
        { field: 'duration', rule: 'range', params: { above: 0 } },
        { field: 'foo', rule: 'unknown', params: {} },
        { field: 'bar', rule: 'unknown', params: {} },
      ],
    }),
  );
});

it('returns the message of each address of a host name if the error itself has none', () => {
  const reasons = ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.2:5432'];
  const error = new AggregateError(reasons.map((reason) => new Error(reason)));
  expect(reasonOf(error)).toBe(reasons.join(', '));
});

it('returns the message of an error, and nothing of another value', () => {
  expect([reasonOf(new Error('no')), reasonOf('no')]).toEqual(['no', 'unknown']);
});
