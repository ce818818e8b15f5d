import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { create, outcome, refusal, send, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();

const get = (id: string, query = '') => send(app, `${TIME_LOGS}/${id}${query}`);

describe('GET /api/v1/time-logs/{id}', () => {
  it('answers the log as it was answered when it was recorded', async () => {
    const { body } = await create(app);
    const { id } = (body as { data: { id: string } }).data;
    for (const written of [id, id.toUpperCase(), `${id}/`]) {
      expect(outcome(await get(written))).toEqual([200, body]);
    }
  });

  it('knows no log under the id of none', async () => {
    for (const id of [randomUUID(), '00000000-0000-0000-0000-000000000000']) {
      expect(outcome(await get(id))).toEqual([
        404,
        refusal('NOT_FOUND', 'there is no time log with this id'),
      ]);
    }
  });

  it.each(['x', '1', '%00', '%ff', '%', '%2f', `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(11)}g`])(
    'refuses an id that is no UUID: %s',
    async (id) => {
      expect((await get(id)).status).toBe(400);
    },
  );

  it('names what is wrong with id and query in one message', async () => {
    for (const [query, message] of [
      ['', 'id must be a UUID'],
      ['?a=1&a=2', 'id must be a UUID; unknown parameter: a'],
      ['?page=1&id=2', 'id must not be repeated; unknown parameter: page'],
    ] as const)
      expect(outcome(await get('x', query))).toEqual([400, refusal('VALIDATION_ERROR', message)]);
  });
});
