import { describe, expect, it } from '@jest/globals';
import { PageRequest } from '../../time-log/domain/time-log-query.js';
import type { Totals } from '../domain/totals.js';
import { totalsJson, totalsResponse } from './time-log-totals.js';

const projectId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const digits = '0.30000000000000000000000000000001';
const huge = '9'.repeat(400);
const page = PageRequest.of(2, 3);

const totals: Totals = {
  whole: { count: 5, duration: huge },
  groups: [
    { projectId, count: 2, duration: digits },
    { from: '2026-01-01', to: '2026-01-31', count: 3, duration: '4.5' },
    { projectId, from: '2026-01-01', to: '2026-01-31', count: 1, duration: '0.25' },
  ],
  groupCount: 5,
};

describe('totals', () => {
  it('have all digits of their sums as JSON', () => {
    expect(totalsJson(totals, page)).toBe(
      `{"success":true,"data":[{"projectId":"${projectId}","count":2,"duration":${digits}},` +
        `{"from":"2026-01-01","to":"2026-01-31","count":3,"duration":4.5},` +
        `{"projectId":"${projectId}","from":"2026-01-01","to":"2026-01-31","count":1,"duration":0.25}],` +
        `"meta":{"count":5,"duration":${huge},"total":5,"page":2,"limit":3}}`,
    );
  });

  it('have the nearest finite numbers in an object, so that its JSON has numbers too', () => {
    const response = totalsResponse(totals, page);
    expect(response).toEqual({
      success: true,
      data: [
        { projectId, count: 2, duration: 0.3 },
        { from: '2026-01-01', to: '2026-01-31', count: 3, duration: 4.5 },
        { projectId, from: '2026-01-01', to: '2026-01-31', count: 1, duration: 0.25 },
      ],
      meta: { count: 5, duration: Number.MAX_VALUE, total: 5, page: 2, limit: 3 },
    });
    expect(JSON.parse(JSON.stringify(response))).toEqual(response);
  });
});
