import { describe, expect, it } from '@jest/globals';
import { expectedItem, expectedLog } from '../../../test/support/expected-logs.js';
import { TimeLog } from '../domain/time-log.js';
import { itemOf } from './time-log-bodies.js';

const id = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const values = { projectId: id, duration: 1, description: 'a "b"', date: '2026-01-31' };
const createdAt = '2026-01-31T09:30:00.123Z';

it('an item has the listed values of a log and no others', () => {
  const log = Object.assign(TimeLog.record(values, id), { secret: 1 });
  expect(itemOf(log)).toEqual(expectedItem(values, { id, createdAt }));
});

describe('a TimeLog as JSON', () => {
  it('has all its values, and when it was recorded', () => {
    const [log] = JSON.parse(JSON.stringify([TimeLog.record(values, id)])) as unknown[];
    expect(log).toEqual(expectedLog(values, { id, createdAt }));
  });

  it('has what a query has brought, even without the id', () => {
    const part = Object.assign(TimeLog.blank(), { duration: 2 });
    expect(JSON.parse(JSON.stringify(part))).toEqual({ duration: 2 });
  });
});
