import { describe, expect, it } from '@jest/globals';
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
/** A call with an argument of its type and of a wrong value, as the code of a host may make it. */
type Call = (...values: never[]) => Promise<unknown>;

type Case = [calls: Record<string, Call>, part: string, wrong: unknown[], message: string, issue: object];

describe('the arguments of services', () => {
  const byPage: Record<string, Call> = {
    list: (page: never) => logs.list({}, page),
    items: (page: never) => logs.items({}, page),
    totals: (page: never) => totals.totals({}, 'day', page),
  };
  const byId: Record<string, Call> = {
    get: (id: never) => logs.get(id),
    delete: (id: never) => logs.delete(id),
    correct: (id: never) => logs.correct(id, values),
    patch: (id: never) => logs.patch(id, () => values),
  };
  const byLimit: Record<string, Call> = {
    events: (limit: never) => feed.events(undefined, limit),
    page: (limit: never) => feed.page(undefined, limit),
  };
  const others: Record<string, Call> = {
    'list and its projects': (projectIds: never) => logs.list({ projectIds }),
    'page and its projects': (projectIds: never) => feed.page(undefined, 1, { projectIds }),
    'list and its first day': (from: never) => logs.list({ period: { from } }),
    'page and its place': (place: never) => feed.page(place, 1),
    'recordOnce and its caller': (caller: never) => logs.recordOnce(values, { ...key, caller }),
    'recordAllOnce and its caller': (caller: never) => logs.recordAllOnce([values], { ...key, caller }),
    'a bound caller, and the id of a correction': (id: never) =>
      logs.correct(id, values, { caller: { projects: [] } }),
  };

  const uuids = 'projectId must be a UUID, or at most 100 separated by commas';
  const limit = 'limit must be a whole number from 1 to 1000';
  it.each<Case>([
    [others, 'the id of a correction', ['x'], 'id must be a UUID', { field: 'id' }],
    [
      others,
      'its caller',
      ['a\0', 'a\ud800'],
      expect.stringMatching(/^Idempotency-Key has a caller whose id must not contain /) as never,
      { rule: 'caller' },
    ],
    [byId, '', ['x'], 'id must be a UUID', { field: 'id', rule: 'uuid' }],
    [byPage, '', [{ limit: 1_001 }], limit, { params: { min: 1, max: 1_000 } }],
    [byPage, '', [{ number: 0 }], 'page must be a whole number from 1 to 2^53-1', { rule: 'range' }],
    [byLimit, '', [0, 1_001], limit, { field: 'limit', rule: 'range' }],
    [
      others,
      'projects',
      [['x'], Array(101).fill(PROJECT)],
      uuids,
      { field: 'projectId', rule: 'uuid', params: { max: 100 } },
    ],
    [
      others,
      'first day',
      ['2026-02-29'],
      expect.stringMatching(/^from must be an existing day, /) as never,
      { field: 'from', rule: 'date' },
    ],
    [others, 'place', ['x'], 'lastEventId must be the id of an event', { rule: 'event' }],
  ])('are refused in the words of HTTP: %#', async (calls, part, wrong, message, issue) => {
    const chosen = Object.entries(calls).filter(([name]) => name.includes(part));
    expect(chosen).not.toHaveLength(0);
    for (const [name, call] of chosen)
      for (const value of wrong) {
        const error: unknown = await call(value as never).catch((reason: unknown) => reason);
        expect({ name, value, error }).toMatchObject({
          error: { code: 'VALIDATION_ERROR', message, issues: [issue] },
        });
      }
  });
});
