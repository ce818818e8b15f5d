import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { create, get, idOf, outcome, refusal } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();

describe('GET /api/v1/time-logs/{id}', () => {
  it('answers the log as it was answered when it was recorded', async () => {
    const created = await create(app);
    const id = idOf(created);
    for (const written of [id, id.toUpperCase(), `${id}/`])
      expect(outcome(await get(app, written))).toEqual([200, created.body]);
  });

  it('knows no log under the id of none', async () => {
    const none = [404, refusal('NOT_FOUND', 'there is no time log with this id')];
    expect(outcome(await get(app, randomUUID()))).toEqual(none);
  });

  it.each([
    ...['x', '%00', '%ff', '%', '%2f', `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(11)}g`].map(
      (id) => [id, /id must be a UUID|malformed/] as const,
    ),
    ['x?a=1&a=2', /^id must be a UUID; unknown parameter: a$/],
    ['x?page=1&id=2', /^id must not be repeated; unknown parameter: page$/],
  ] as const)('refuses what is no id: %s', async (id, message) => {
    expect(outcome(await get(app, id))).toEqual([
      400,
      refusal('VALIDATION_ERROR', expect.stringMatching(message) as unknown as string),
    ]);
  });
});
