import { beforeAll, describe, expect, it } from '@jest/globals';
import { DOCUMENT_TEXT, type OpenApiDocument, type Response } from '../support/open-api.js';
import { create, linksIn, LOG, outcome, refusal, send, TIME_LOGS, totalOf } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const A = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const B = '9a4f3c52-0d0b-4f5e-8f6e-5a3b7c1d2e90';
const TOTALS = `${TIME_LOGS}/totals`;

/** The logs that the examples of the document are about. */
const SET: readonly [projectId: string, date: string, duration: number][] = [
  [A, '2026-01-30', 1.5],
  [A, '2026-01-31', 1.5],
  [A, '2026-02-02', 1.5],
  [B, '2026-01-31', 0.1],
  [B, '2026-02-01', 0.2],
];
const ALL = { count: 5, duration: 4.8 };

const app = useTestApp();
beforeAll(async () => {
  for (const [projectId, date, duration] of SET) await create(app, { ...LOG, projectId, date, duration });
});

const totals = (query = '') => send(app, query === '' ? TOTALS : `${TOTALS}?${query}`);
const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];

/** The whole answer with these groups. */
const isTotals = (
  data: object[],
  sum: { count: number; duration: number } = ALL,
  meta: { total?: number; page?: number; limit?: number } = {},
) => [200, { success: true, data, meta: { ...sum, total: data.length, page: 1, limit: 50, ...meta } }];

const project = (projectId: string, count: number, duration: number) => ({ projectId, count, duration });
const days = (from: string, to: string, count: number, duration: number) => ({ from, to, count, duration });

describe('GET /api/v1/time-logs/totals', () => {
  it('counts and sums all logs, exactly, without groups', async () => {
    const answer = await totals();
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.text).toBe(
      '{"success":true,"data":[],"meta":{"count":5,"duration":4.8,"total":0,"page":1,"limit":50}}',
    );
  });

  it('answers the examples of the document', async () => {
    const { get } = (JSON.parse(DOCUMENT_TEXT) as OpenApiDocument).paths[TOTALS]!;
    const { content } = get!.responses[200] as Response;
    const examples = Object.values(content!['application/json']!.examples);
    expect(examples.length).toBeGreaterThan(2);
    for (const { summary, value } of examples) {
      const { body } = await totals(summary!.includes('=') ? summary : '');
      expect([summary, body]).toEqual([summary, value]);
    }
  });

  it.each([
    [`projectId=${A.toUpperCase()},${A}`, { count: 3, duration: 4.5 }],
    ['from=2026-01-31T23:00-10:00&to=2026-02-01%2000:00', { count: 3, duration: 1.8 }],
    [`from=2026-01-31&projectId=${B}&to=2026-01-31`, { count: 1, duration: 0.1 }],
    ['from=9999-12-31', { count: 0, duration: 0 }],
  ])('filters as lists do, by %s', async (query, sum) => {
    expect(outcome(await totals(query))).toEqual(isTotals([], sum));
  });

  it.each<[string, object[]]>([
    [
      'by=day',
      [
        days('2026-02-02', '2026-02-02', 1, 1.5),
        days('2026-02-01', '2026-02-01', 1, 0.2),
        days('2026-01-31', '2026-01-31', 2, 1.6),
        days('2026-01-30', '2026-01-30', 1, 1.5),
      ],
    ],
    ['by=week', [days('2026-02-02', '2026-02-08', 1, 1.5), days('2026-01-26', '2026-02-01', 4, 3.3)]],
  ])('makes groups %s', async (query, groups) => {
    expect(outcome(await totals(query))).toEqual(isTotals(groups));
  });

  it('cuts groups to the period, so that the list of each has its logs', async () => {
    const answer = await totals('by=month&from=2026-01-31T00:00Z&to=2026-02-01');
    const groups = [days('2026-02-01', '2026-02-01', 1, 0.2), days('2026-01-31', '2026-01-31', 2, 1.6)];
    expect(outcome(answer)).toEqual(isTotals(groups, { count: 3, duration: 1.8 }));
    for (const { from, to, count } of groups) expect(await totalOf(app, `from=${from}&to=${to}`)).toBe(count);
  });

  it.each([
    ['by=project&limit=1&page=2', [project(B, 2, 0.3)], { total: 2, page: 2, limit: 1 }],
    ['by=project&limit=1&page=3', [], { total: 2, page: 3, limit: 1 }],
    [
      `by=day&limit=1000&page=${Number.MAX_SAFE_INTEGER}`,
      [],
      { total: 4, page: Number.MAX_SAFE_INTEGER, limit: 1000 },
    ],
  ])('has the sum of all on each page of groups: %s', async (query, groups, meta) => {
    expect(outcome(await totals(query))).toEqual(isTotals(groups, ALL, meta));
  });

  it('leads from page to page, with the filters that were applied', async () => {
    const filter = `?projectId=${A}&from=2026-01-01&to=2026-02-02&by=project,day`;
    const query = `by=project%2Cday&limit=1&page=2&to=2026-02-02T00:00Z&from=2026-01-01&projectId=${A.toUpperCase()}`;
    expect(linksIn(await totals(query))).toEqual({
      first: `${filter}&page=1&limit=1`,
      prev: `${filter}&page=1&limit=1`,
      next: `${filter}&page=3&limit=1`,
      last: `${filter}&page=3&limit=1`,
    });
  });

  const by =
    'by must be project, day, week, month or attributes.NAME, or one of project and attributes.NAME with a period, such as project,month';

  it.each([
    ...['', 'Day', 'month,project', 'project,day,week', 'constructor'].map((value) => [`by=${value}`, by]),
  ])('refuses %s', async (query, message) => {
    expect(outcome(await totals(query))).toEqual(isInvalid(message));
  });
});
