import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { create, outcome, refusal, send, TIME_LOGS } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
let created: { readonly data: { readonly id: string } };

beforeAll(async () => {
  app = await startTestApp();
  created = (await create(app)).body as typeof created;
});
afterAll(() => app.close());

const get = (id: string, query = '') => send(app, `${TIME_LOGS}/${id}${query}`);
const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];

describe('GET /api/v1/time-logs/{id}', () => {
  it('answers the log as it was answered when it was recorded', async () => {
    const { id } = created.data;
    for (const written of [id, id.toUpperCase(), `${id}/`]) {
      expect(outcome(await get(written))).toEqual([200, created]);
    }
  });

  it('answers HEAD without the body', async () => {
    const answer = await send(app, `${TIME_LOGS}/${created.data.id}`, { method: 'HEAD' });
    const length = String(Buffer.byteLength(JSON.stringify(created)));
    expect([answer.status, answer.text, answer.headers.get('content-length')]).toEqual([200, '', length]);
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
    const { id } = created.data;
    expect(outcome(await get('x'))).toEqual(isInvalid('id must be a UUID'));
    expect(outcome(await get(id, '?page=1&id=2'))).toEqual(
      isInvalid('id must not be repeated; unknown parameter: page'),
    );
    expect(outcome(await get('x', '?a=1&a=2'))).toEqual(isInvalid('id must be a UUID; unknown parameter: a'));
  });

  it('is for the holder of a token with the scope, whatever the id', async () => {
    const { token } = await app.tokens.create({ name: 'writer', scopes: ['time-logs:write'] });
    for (const id of [created.data.id, randomUUID(), 'x']) {
      const path = `${TIME_LOGS}/${id}`;
      expect(outcome(await send(app, path, { headers: { authorization: undefined } }))).toEqual([
        401,
        refusal('UNAUTHORIZED', 'a valid bearer token is required'),
      ]);
      expect(outcome(await send({ ...app, token }, path))).toEqual([
        403,
        refusal('FORBIDDEN', 'the token lacks the scope time-logs:read'),
      ]);
    }
  });

  it('takes no other method', async () => {
    const answer = await send(app, `${TIME_LOGS}/${created.data.id}`, { method: 'PATCH' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD, PUT']);
  });
});
