import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import createClient from 'openapi-fetch';
import type { paths } from '@time-logs/client';
import { expectedItem, expectedLog } from '../support/expected-logs.js';
import { useTestApp } from '../support/test-app.js';

/**
 * The types of the document in the hands of a client of another make. That they fit is checked by `npm run
 * typecheck`.
 */
describe('openapi-fetch with the types of the OpenAPI document', () => {
  const app = useTestApp();
  const clientWith = (token: string) =>
    createClient<paths>({ baseUrl: app.url, headers: { Authorization: `Bearer ${token}` } });

  it('records a log and lists it', async () => {
    const client = clientWith(app.token);
    const log = { projectId: randomUUID(), duration: 1.5, description: 'Wrote tests', date: '2026-01-31' };
    const { data: recorded, response } = await client.POST('/api/v1/time-logs', {
      body: log,
      params: { header: { 'Idempotency-Key': randomUUID() } },
    });
    expect(response.status).toBe(201);
    // The type comes from the document: another member would not compile.
    const { id, createdAt } = recorded!.data;
    expect(recorded).toEqual({ success: true, data: expectedLog(log, { id, createdAt }) });

    const { data: page } = await client.GET('/api/v1/time-logs', {
      params: { query: { projectId: log.projectId, from: '2026-01-01', limit: 10 } },
    });
    expect(page).toEqual({
      success: true,
      data: [expectedItem(log, { id, createdAt })],
      meta: { total: 1, page: 1, limit: 10 },
    });
  });

  it('does not compile what the document forbids', () => {
    const client = clientWith(app.token);
    const date = '2026-01-31';
    // Never called: the compiler alone looks at it, and an error that is not there is one.
    const forbidden = [
      // @ts-expect-error projectId is missing
      () => client.POST('/api/v1/time-logs', { body: { duration: 1, date } }),
      // @ts-expect-error duration is a number
      () => client.POST('/api/v1/time-logs', { body: { projectId: '', duration: '1', date } }),
      // @ts-expect-error there is no such filter
      () => client.GET('/api/v1/time-logs', { params: { query: { project: '' } } }),
      // @ts-expect-error there is no such operation
      () => client.DELETE('/api/v1/time-logs'),
    ];
    expect(forbidden).toHaveLength(4);
  });
});
