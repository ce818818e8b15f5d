import { expect, it } from '@jest/globals';
import { FeedService } from '../feed/index.js';
import { TimeLogService } from '../time-log/index.js';
import { TotalsService } from '../totals/index.js';

const PROJECT = 'AAAAAAAA-0000-0000-0000-000000000001';
const ID = '019c1370-4e1b-7000-8000-00000000000A';
const values = { projectId: PROJECT, duration: 1, date: '2026-01-31' };

/** They refuse every call of these tests before they ask the store. */
const store = {} as never;
const logs = new TimeLogService(store, { next: () => ID.toLowerCase() });
const totals = new TotalsService(store);
const feed = new FeedService(store);

const key = { caller: 'ada', text: 'once' };

const UUIDS = 'projectId must be a UUID, or at most 100 separated by commas';
const PAGE_LIMIT = 'limit must be a whole number from 1 to 1000';
const PAGE = 'page must be a whole number from 1 to 2^53-1';

it.each<[what: string, call: () => Promise<unknown>, message: unknown, issue: object]>([
  ['a page', () => logs.list({}, { limit: 1_001 }), PAGE_LIMIT, { params: { min: 1, max: 1_000 } }],
  ['a page of items', () => logs.items({}, { number: 0 }), PAGE, { rule: 'range' }],
  ['a page of totals', () => totals.totals({}, 'day', { limit: 1_001 }), PAGE_LIMIT, { rule: 'range' }],
  ['an id', () => logs.get('x'), 'id must be a UUID', { field: 'id', rule: 'uuid' }],
  ['an id to delete', () => logs.delete('x'), 'id must be a UUID', { field: 'id' }],
  ['an id to correct', () => logs.correct('x', values), 'id must be a UUID', { field: 'id' }],
  ['an id to patch', () => logs.patch('x', () => values), 'id must be a UUID', { field: 'id' }],
  ['a limit of events', () => feed.events(undefined, 0), PAGE_LIMIT, { field: 'limit', rule: 'range' }],
  ['a limit of a page', () => feed.page(undefined, 1_001), PAGE_LIMIT, { field: 'limit', rule: 'range' }],
  ['a place', () => feed.page('x', 1), 'lastEventId must be the id of an event', { rule: 'event' }],
  ['projects', () => logs.list({ projectIds: ['x'] }), UUIDS, { field: 'projectId', params: { max: 100 } }],
  ['101 projects', () => logs.list({ projectIds: Array<string>(101).fill(PROJECT) }), UUIDS, {}],
  ['projects of events', () => feed.page(undefined, 1, { projectIds: ['x'] }), UUIDS, {}],
  [
    'a day',
    () => logs.list({ period: { from: '2026-02-29' } }),
    expect.stringMatching(/^from must be an existing day, /),
    { field: 'from', rule: 'date' },
  ],
  [
    'a caller',
    () => logs.recordOnce(values, { ...key, caller: 'a\0' }),
    expect.stringMatching(/^Idempotency-Key has a caller whose id must not contain /),
    { rule: 'caller' },
  ],
  [
    'a caller of a batch',
    () => logs.recordAllOnce([values], { ...key, caller: 'a\ud800' }),
    expect.stringMatching(/^Idempotency-Key has a caller whose id must not contain /),
    { rule: 'caller' },
  ],
])('a service refuses %s in the words of HTTP', async (_what, call, message, issue) => {
  await expect(call()).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message, issues: [issue] });
});
