import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import {
  create,
  get,
  idOf,
  list,
  LOG,
  outcome,
  refusal,
  remove,
  send,
  TIME_LOGS,
  totalOf,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

interface FeedEvent {
  readonly subject: string;
  readonly method?: string;
  readonly data: { readonly id: string };
}

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

  it('between two pages makes the list skip a log, as documented, but not the feed', async () => {
    const projectId = randomUUID();
    const ids: string[] = [];
    for (let day = 1; day <= 4; day++)
      ids.unshift(idOf(await create(app, { ...LOG, projectId, date: `2026-01-0${day}` })));
    const page = async (number: number) => {
      const { body } = await list(app, `projectId=${projectId}&limit=2&page=${number}`);
      return (body as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await page(1)).toEqual(ids.slice(0, 2));
    await remove(app, ids[0]!);
    expect(await page(2)).toEqual(ids.slice(3));
    await eventually(async () => {
      const events = (await send(app, `${TIME_LOGS}/events?limit=1000`)).body as FeedEvent[];
      const stored = events.filter(({ subject, method }) => subject === projectId && method !== 'DELETE');
      expect(stored.map(({ data }) => data.id)).toEqual(ids.slice(1).toReversed());
    });
    for (const id of ids) await remove(app, id);
  });

  it.each([
    { body: '{', headers: { 'content-type': 'application/json' } },
    { body: ' '.repeat(70_000) },
    { headers: { 'idempotency-key': '' } },
  ])('ignores a body and a key (%#)', async (sending) => {
    expect((await remove(app, await newId(), sending)).status).toBe(204);
  });
});
