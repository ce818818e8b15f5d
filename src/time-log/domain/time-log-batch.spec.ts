import { describe, expect, it } from '@jest/globals';
import { batchError, faultsAt } from './time-log-batch.js';

describe('the error of a batch', () => {
  it.each([
    ['duration must be a positive number', 'timeLogs[3].duration must be a positive number'],
    ['attributes.userId must be a string', 'timeLogs[3].attributes.userId must be a string'],
    ['unknown field: foo', 'timeLogs[3]: unknown field: foo'],
    ['datetime is not a field', 'timeLogs[3]: datetime is not a field'],
  ])('names the place of the log: %s', (fault, message) => {
    expect(faultsAt(3, [fault])).toEqual([message]);
  });

  it('has at most 10 messages, and the number of the others', () => {
    const faults = Array.from({ length: 37 }, (_, index) => `fault ${index}`);
    const ten = faults.slice(0, 10).join('; ');
    expect(batchError(faults.slice(0, 10)).message).toBe(ten);
    expect(batchError(faults)).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: `${ten}; and 27 more`,
      logged: `${ten}; and 27 more`,
    });
    expect(batchError(faults, ['safe']).logged).toBe('safe');
  });
});
