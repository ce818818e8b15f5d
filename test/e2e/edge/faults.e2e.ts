import { describe, expect, it } from '@jest/globals';
import { edgeApp, expectCommon, JSON_TYPE, REFUSED } from '../../support/edge.js';
import { missingDatabase } from '../../support/outage.js';
import { create, list, outcome, send } from '../../support/requests.js';

const app = edgeApp();

describe('faults of the service', () => {
  it('are answered with a fixed text', async () => {
    expect((await create(app)).status).toBe(201);
    await app.dataSource.query('alter table time_logs rename to elsewhere');
    try {
      for (const answer of [await create(app), await list(app)]) {
        expect(outcome(answer)).toEqual(REFUSED.internal);
        expectCommon(answer.headers);
      }
    } finally {
      await app.dataSource.query('alter table elsewhere rename to time_logs');
    }
    expect([(await create(app)).status, (await list(app)).status]).toEqual([201, 200]);
  });

  it('that pass are answered with 503 and when to try again', async () => {
    await missingDatabase(app, async () => {
      for (const answer of [
        await create(app),
        await list(app),
        await send(app, '/health'),
        await send(app, '/readyz'),
      ]) {
        expect(outcome(answer)).toEqual(REFUSED.unavailable);
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
        expectCommon(answer.headers);
      }
    });
    expect([(await create(app)).status, (await list(app)).status]).toEqual([201, 200]);
  });
});
