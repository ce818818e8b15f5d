import { describe, expect, it } from '@jest/globals';
import { itemJson, itemOf, itemsOf, WrittenPage } from './time-log-item.js';
import type { TimeLogPage } from './time-log.repository.js';
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
  const make = { log: () => log, item: (row: string) => row };

  it('are those that its store writes', () => {
    const unasked = () => {
      throw new Error('nobody has asked for logs');
    };
    expect([...itemsOf(new WrittenPage(2, ['1', '2'], { ...make, log: unasked }))]).toEqual(['1', '2']);
  });

  it('are those of its logs where somebody has made another page of it', () => {
    const page: TimeLogPage = new WrittenPage(2, ['1', '2'], make);
    expect([...itemsOf({ ...page, logs: page.logs.slice(1) })]).toEqual([JSON.stringify(ITEM)]);
  });

  it('are those of its logs where somebody has copied the page, or changed them in place', () => {
    const copied: TimeLogPage = new WrittenPage(1, ['1'], make);
    expect([...itemsOf({ ...copied })]).toEqual([JSON.stringify(ITEM)]);
    const page: TimeLogPage = new WrittenPage(1, ['1'], { ...make, log: () => TimeLog.record(values, ID) });
    Object.assign(page.logs[0]!, { description: '' });
    expect([...itemsOf(page)]).toEqual([JSON.stringify({ ...ITEM, description: '' })]);
  });

  it('do not cost its logs more than once', () => {
    const page: TimeLogPage = new WrittenPage(1, ['1'], make);
    expect(page.logs).toBe(page.logs);
  });
});
