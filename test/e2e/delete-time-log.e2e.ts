import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { create, get, idOf, LOG, outcome, refusal, remove, totalOf } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const NONE = [404, refusal('NOT_FOUND', 'there is no time log with this id')];

const app = useTestApp();
const newId = async () => idOf(await create(app));

describe('DELETE /api/v1/time-logs/{id}', () => {
  it('answers 204 without a body, and the log is gone', async () => {
    for (const written of [(id: string) => id, (id: string) => id.toUpperCase(), (id: string) => `${id}/`]) {
      const id = await newId();
      const answer = await remove(app, written(id));
      expect([answer.status, answer.text]).toEqual([204, '']);
      for (const name of ['content-type', 'content-length', 'transfer-encoding'])
        expect(answer.headers.has(name)).toBe(false);
      expect(outcome(await get(app, id))).toEqual(NONE);
    }
    expect(await totalOf(app)).toBe(0);
  });

  it('finds no log the second time, and none that never was', async () => {
    const id = await newId();
    await remove(app, id);
    for (const gone of [id, randomUUID()]) expect(outcome(await remove(app, gone))).toEqual(NONE);
  });

  it('leaves the first answer to retries of the create, which make no log', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(app, LOG, headers);
    await remove(app, idOf(first));
    const again = await create(app, LOG, headers);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect((await create(app, { ...LOG, duration: 9 }, headers)).status).toBe(422);
    expect(await totalOf(app)).toBe(0);
  });

  it.each([
    { body: '{', headers: { 'content-type': 'application/json' } },
    { body: ' '.repeat(70_000) },
    { headers: { 'idempotency-key': '' } },
  ])('ignores a body and a key (%#)', async (sending) => {
    expect((await remove(app, await newId(), sending)).status).toBe(204);
  });
});
