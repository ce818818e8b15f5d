import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timesOf } from '../support/extent.js';
import { expectedItem, expectedLog, type Made } from '../support/expected-logs.js';
import { create, dataOf, list, outcome } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();

/** Any day from 0001-01-01 to 9999-12-31. */
const anyDay = fc
  .integer({ min: Date.parse('0001-01-01') / 86_400_000, max: Date.parse('9999-12-31') / 86_400_000 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));

const anyUuid = fc.mixedCase(
  fc.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
);
const anyDuration = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true });
const anyDescription = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 200 }))
  .filter((text) => !text.includes('\0') && text.isWellFormed());

it('any valid log is created as it was sent, and listed as it was created', async () => {
  const log = fc.record(
    { projectId: anyUuid, duration: anyDuration, description: anyDescription, date: anyDay },
    { requiredKeys: ['projectId', 'duration', 'date'] },
  );
  const property = fc.asyncProperty(log, async (sent) => {
    const answer = await create(app, sent);
    const created = dataOf(answer) as Made & { id: string; createdAt: string };
    expect(outcome(answer)).toEqual([201, { success: true, data: expectedLog(sent, created) }]);
    expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(created.id.replace('-', '').slice(0, 12), 16)).toBe(Date.parse(created.createdAt));
    const { body } = await list(app, `projectId=${sent.projectId}&from=${sent.date}&to=${sent.date}&limit=1`);
    expect(body).toEqual({
      success: true,
      data: [expectedItem(sent, created)],
      meta: { total: expect.any(Number), page: 1, limit: 1 },
    });
  });
  await fc.assert(property, { numRuns: timesOf(400, 60) });
});
