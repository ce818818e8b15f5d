import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  create,
  dataOf,
  list,
  LOG,
  outcome,
  refusal,
  send,
  type Sending,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const NONE = [404, refusal('NOT_FOUND', 'there is no time log with this id')];

const app = useTestApp();

const made = async (log: object = LOG, headers = {}) =>
  dataOf(await create(app, log, headers)) as { id: string };
const remove = (id: string, sending: Sending = {}) =>
  send(app, `${TIME_LOGS}/${id}`, { method: 'DELETE', ...sending });
const get = (id: string) => send(app, `${TIME_LOGS}/${id}`);
const totalsOf = async (projectId: string) =>
  ((await send(app, `${TIME_LOGS}/totals?projectId=${projectId}`)).body as { meta: object }).meta;

describe('DELETE /api/v1/time-logs/{id}', () => {
  it('answers 204 without a body, and the log is gone', async () => {
    for (const written of [(id: string) => id, (id: string) => id.toUpperCase(), (id: string) => `${id}/`]) {
      const { id } = await made();
      const answer = await remove(written(id));
      expect([answer.status, answer.text]).toEqual([204, '']);
      for (const name of ['content-type', 'content-length', 'transfer-encoding']) {
        expect(answer.headers.has(name)).toBe(false);
      }
      expect(outcome(await get(id))).toEqual(NONE);
    }
  });

  it('finds no log the second time, and none that never was', async () => {
    const { id } = await made();
    await remove(id);
    for (const gone of [id, randomUUID(), '00000000-0000-0000-0000-000000000000']) {
      expect(outcome(await remove(gone))).toEqual(NONE);
    }
  });

  it('takes the log out of lists, counts and sums at once', async () => {
    const projectId = randomUUID();
    const [first, second] = [
      await made({ ...LOG, projectId, duration: 0.1 }),
      await made({ ...LOG, projectId, duration: 0.2 }),
    ];
    await remove(first.id);
    expect(await totalsOf(projectId)).toMatchObject({ count: 1, duration: 0.2 });
    expect((await list(app, `projectId=${projectId}`)).body).toMatchObject({
      data: [{ id: second.id }],
      meta: { total: 1 },
    });
    await remove(second.id);
    expect(await totalsOf(projectId)).toMatchObject({ count: 0, duration: 0 });
    expect((await list(app, `projectId=${projectId}`)).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it('is done by one of several who ask at once', async () => {
    const { id } = await made();
    const answers = await Promise.all(Array.from({ length: 20 }, () => remove(id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array<number>(19).fill(404)]);
  });

  it('leaves the first answer to retries of the create, which make no log', async () => {
    const [key, log] = [randomUUID(), { ...LOG, projectId: randomUUID() }];
    const headers = { 'idempotency-key': key };
    const first = await create(app, log, headers);
    await remove((dataOf(first) as { id: string }).id);
    const again = await create(app, log, headers);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect((await create(app, { ...log, duration: 9 }, headers)).status).toBe(422);
    expect(await totalsOf(log.projectId)).toMatchObject({ count: 0, duration: 0 });
  });

  it('ignores a body and a key', async () => {
    for (const sending of [
      { body: '{', headers: { 'content-type': 'application/json' } },
      { body: ' '.repeat(70_000) },
      { headers: { 'idempotency-key': '' } },
    ]) {
      const { id } = await made();
      expect((await remove(id, sending)).status).toBe(204);
    }
  });
});
