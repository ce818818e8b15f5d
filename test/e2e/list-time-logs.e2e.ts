import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectedItem, type Made } from '../support/expected-logs.js';
import { create, dataOf, linksIn, list, LOG, outcome, refusal } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const A = 'aaaaaaaa-0000-4000-8000-000000000001';
const B = 'bbbbbbbb-0000-4000-8000-000000000002';
/** A project without logs. */
const NONE = '00000000-0000-0000-0000-000000000000';

/** The set that is listed, in the order of its making; a log's description is its name. */
const SET: readonly [name: string, projectId: string, date: string][] = [
  ['a1', A, '2026-01-01'],
  ['b1', B, '2026-02-01'],
  ['a2', A, '2026-01-31'],
  ['b2', B, '2025-12-31'],
  ['a3', A, '2026-01-31'],
  ['a4', A, '0001-01-01'],
  ['b3', B, '9999-12-31'],
  ['b4', B, '2026-01-31'],
  ['a5', A, '2024-02-29'],
];
/** All names in the order of a list. */
const ALL = ['b3', 'b1', 'b4', 'a3', 'a2', 'a1', 'b2', 'a5', 'a4'];

const app = useTestApp();
/** Each log of the set as it is listed, by its name. */
const items = new Map<string, object>();

beforeAll(async () => {
  for (const [description, projectId, date] of SET) {
    const sent = { ...LOG, projectId, date, description };
    items.set(description, expectedItem(sent, dataOf(await create(app, sent)) as Made));
  }
});

/** The whole answer of a list that holds these logs of the set. */
function isList(names: readonly string[], meta: { total: number; page?: number; limit?: number }) {
  const data = names.map((name) => items.get(name));
  return [200, { success: true, data, meta: { page: 1, limit: 50, ...meta } }];
}

describe('GET /api/v1/time-logs', () => {
  it('lists newest work first, then newest created, each log without its date', async () => {
    const answer = await list(app);
    expect(outcome(answer)).toEqual(isList(ALL, { total: 9 }));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each([
    [`projectId=${A.toUpperCase()}`, ['a3', 'a2', 'a1', 'a5', 'a4']],
    [`projectId=${NONE}`, []],
    [`projectId=${B},${A.toUpperCase()},${B}&from=2026-01-31&to=2026-01-31`, ['b4', 'a3', 'a2']],
    ['to=2026-01-01', ['a1', 'b2', 'a5', 'a4']],
    [`from=2026-01-01&projectId=${B}&to=2026-02-01`, ['b1', 'b4']],
    ['from=2026-01-31T23:59:60Z&to=2026-01-31%2009:30', ['b4', 'a3', 'a2']],
    ['from=2026-01-31T23:59:59-12:00&to=2026-01-31T00:00:00%2B14:00', ['b4', 'a3', 'a2']],
    // As clients send it that do not encode the plus.
    ['from=2026-01-31T00:00+05:45&to=2026-01-31t00:00:00.5+05:45', ['b4', 'a3', 'a2']],
  ])('filters by %s', async (query, names) => {
    expect(outcome(await list(app, query))).toEqual(isList(names, { total: names.length }));
  });

  it.each<[string, string[], { page?: number; limit?: number }]>([
    ['&&page=1&', ALL, { page: 1 }],
    ['page=2&limit=4', ALL.slice(4, 8), { page: 2, limit: 4 }],
    ['page=4&limit=4', [], { page: 4, limit: 4 }],
    [`page=${Number.MAX_SAFE_INTEGER}&limit=1000`, [], { page: Number.MAX_SAFE_INTEGER, limit: 1000 }],
    ['page=007&limit=01', ['b2'], { page: 7, limit: 1 }],
  ])('answers the page %s', async (query, names, meta) => {
    expect(outcome(await list(app, query))).toEqual(isList(names, { total: 9, ...meta }));
  });

  it('refuses a period that ends before it begins', async () => {
    const message = 'from must not be after to';
    const answer = await list(app, 'from=2026-02-01&to=2026-01-31');
    expect(outcome(answer)).toEqual([400, refusal('VALIDATION_ERROR', message)]);
  });

  it('leads to other pages, by the days that were applied', async () => {
    const filter = `projectId=${A},${NONE}&from=2024-01-01&to=2026-01-31`;
    const to = (page: number) => `?${filter}&page=${page}&limit=1`;
    const sent = `projectId=${A.toUpperCase()}%2C${NONE},${A}&from=2024-01-01T05:00+05:00&to=2026-01-31%2023:59`;
    expect(linksIn(await list(app, `${sent}&limit=1&page=2`))).toEqual({
      first: to(1),
      prev: to(1),
      next: to(3),
      last: to(4),
    });
  });
});
