import { describe, expect, it } from '@jest/globals';
import { itemJson, itemOf, itemsOf, writtenPage } from './time-log-item.js';
import { TimeLog } from './time-log.js';

const ID = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const values = { projectId: ID, duration: 1, description: 'a "b"', date: '2026-01-31' };
const log = TimeLog.record(values, ID);
const ITEM = {
  id: ID,
  projectId: ID,
  duration: 1,
  description: 'a "b"',
  createdAt: '2026-01-31T09:30:00.123Z',
};

describe('an item of a list', () => {
  it('has the listed values of a log and no others', () => {
    expect(itemOf(Object.assign(TimeLog.record(values, ID), { secret: 1 }))).toEqual(ITEM);
  });

  it('is the same where a store has written its values', () => {
    const listed = `"projectId":"${ID}","duration":1,"description":"a \\"b\\""`;
    expect(itemJson(ID, listed)).toBe(JSON.stringify(ITEM));
  });
});

describe('the items of a page', () => {
  it('are those that its store has written, without making logs', () => {
    const page = writtenPage(1, ['{}'], () => {
      throw new Error('nobody has asked for logs');
    });
    expect([...itemsOf(page)]).toEqual(['{}']);
  });

  it('are those of its logs where somebody has made another page of it', () => {
    const page = writtenPage(2, ['{}', '{}'], () => [log, log]);
    expect([...itemsOf({ ...page, logs: page.logs.slice(1) })]).toEqual([JSON.stringify(ITEM)]);
    expect([...itemsOf({ ...page })]).toHaveLength(2);
  });

  it('makes its logs once', () => {
    const page = writtenPage(1, ['{}'], () => [log]);
    expect(page.logs).toBe(page.logs);
  });
});
