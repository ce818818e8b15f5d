import { describe, expect, it } from '@jest/globals';
import { Page } from '../domain/page.js';
import type { TimeLogPage } from '../domain/time-log.repository.js';
import { TimeLog } from '../domain/time-log.js';
import { LazyPage } from './lazy-page.js';
import { itemOf } from './time-log-bodies.js';
import { itemJson, listJson } from './time-log-json.js';

const ID = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const values = { projectId: ID, duration: 1, description: 'a "b"', date: '2026-01-31' };
const log = TimeLog.record(values, ID);
const ITEM = itemOf(log);
const itemsOf = (page: TimeLogPage) => [...listJson(page, Page.of(1, 50)).items];

it('an item is the same where a store has written its values', () => {
  const listed = Object.entries(ITEM).filter(([name]) => name !== 'id' && name !== 'createdAt');
  const text = JSON.stringify(Object.fromEntries(listed)).slice(1, -1);
  expect(itemJson(ID, text)).toBe(JSON.stringify(ITEM));
});

describe('the items of a page', () => {
  const make = { log: () => log, item: (row: string) => row };

  it('are those that its store writes', () => {
    const unasked = () => {
      throw new Error('nobody has asked for logs');
    };
    expect(itemsOf(new LazyPage(2, ['1', '2'], { ...make, log: unasked }))).toEqual(['1', '2']);
  });

  it('are those of its logs where somebody has made another page of it', () => {
    const page: TimeLogPage = new LazyPage(2, ['1', '2'], make);
    expect(itemsOf({ ...page, logs: page.logs.slice(1) })).toEqual([JSON.stringify(ITEM)]);
  });

  it('are those of its logs where somebody has copied the page, or changed them in place', () => {
    const copied: TimeLogPage = new LazyPage(1, ['1'], make);
    expect(itemsOf({ ...copied })).toEqual([JSON.stringify(ITEM)]);
    const page: TimeLogPage = new LazyPage(1, ['1'], { ...make, log: () => TimeLog.record(values, ID) });
    Object.assign(page.logs[0]!, { description: '' });
    expect(itemsOf(page)).toEqual([JSON.stringify({ ...ITEM, description: '' })]);
  });

  it('do not cost its logs more than once', () => {
    const page: TimeLogPage = new LazyPage(1, ['1'], make);
    expect(page.logs).toBe(page.logs);
  });
});
