import { beforeAll, describe, expect, it } from '@jest/globals';
import { DOCUMENT_TEXT, type OpenApiDocument, type Response } from '../support/open-api.js';
import { create, linksIn, LOG, outcome, send, TIME_LOGS, totalOf } from '../support/requests.js';
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

/** The whole answer with these groups. */
const isTotals = (
  data: object[],
  sum: { count: number; duration: number } = ALL,
  meta: { total?: number; page?: number; limit?: number } = {},
) => [200, { success: true, data, meta: { ...sum, total: data.length, page: 1, limit: 50, ...meta } }];

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

  it('cuts groups to the period, so that the list of each has its logs', async () => {
    const answer = await totals('by=month&from=2026-01-31T00:00Z&to=2026-02-01');
    const groups = [days('2026-02-01', '2026-02-01', 1, 0.2), days('2026-01-31', '2026-01-31', 2, 1.6)];
    expect(outcome(answer)).toEqual(isTotals(groups, { count: 3, duration: 1.8 }));
    for (const { from, to, count } of groups) expect(await totalOf(app, `from=${from}&to=${to}`)).toBe(count);
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
});
