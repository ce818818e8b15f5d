import { describe, expect, it } from '@jest/globals';
import { batchError, type Fault, faultOf, faultsAt, throwFaults } from './domain-error.js';

const DURATION = faultOf('duration', 0, 'range', 'must be positive', { above: 0 });
const UNKNOWN: Fault = {
  field: 'foo',
  rule: 'unknown',
  params: {},
  message: 'unknown field: foo',
  logged: 'unknown field',
};
const WHOLE: Fault = { field: '', rule: 'type', params: {}, message: 'it must be an object' };

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

describe('the error of a batch', () => {
  it('names the place of each log', () => {
    expect(batchError(faultsAt('timeLogs[3]', [DURATION, UNKNOWN, WHOLE]))).toMatchObject({
      message:
        'timeLogs[3].duration must be positive; timeLogs[3]: unknown field: foo; timeLogs[3]: it must be an object',
      logged:
        'timeLogs[3].duration must be positive; timeLogs[3]: unknown field; timeLogs[3]: it must be an object',
      issues: [
        { field: 'timeLogs[3].duration', rule: 'range', params: { above: 0 } },
        { field: 'timeLogs[3].foo', rule: 'unknown' },
        { field: 'timeLogs[3]', rule: 'type' },
      ],
    });
  });

  it('has at most 10 messages, the number of the others, and all issues', () => {
    const faults = Array.from({ length: 37 }, (_, index) => faultOf(`a${index}`, 1, 'type', 'is wrong'));
    const ten = faults
      .slice(0, 10)
      .map(({ message }) => message)
      .join('; ');
    expect(batchError(faults.slice(0, 10)).message).toBe(ten);
    const { message, logged, issues } = batchError(faults);
    expect([message, logged, issues.length]).toEqual([`${ten}; and 27 more`, `${ten}; and 27 more`, 37]);
  });
});
