import { describe, expect, it } from '@jest/globals';
import { edgeApp, expectCommon, REFUSED } from '../../support/edge.js';
import { create, list, outcome } from '../../support/requests.js';

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
});
