import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { digestOf, newToken } from '../../../src/access-token/token-text.js';
import { scopes } from '../../../src/app.module.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { ask, expectUnavailable } from './support/ask.js';
import { timesOf } from '../../support/extent.js';
import { type Loss, LossyProxy } from '../../support/lossy-proxy.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { patientClient } from './support/patient-client.js';
import { count } from './support/tally.js';

const ROUNDS = timesOf(5, 1);
const KILLS = timesOf(10, 2);

const LOSSES: readonly [Loss['lost'], Loss['by'], Loss][] = [
  ['answer', 'reset', { lost: 'answer', by: 'reset' }],
  ['statement', 'reset', { lost: 'statement', by: 'reset' }],
  ['answer', 'silence', { lost: 'answer', by: 'silence' }],
];

describe('a correction or deletion', () => {
  /** Good for everything. One that the deployment declares cannot correct. */
  const token = newToken();
  const projectId = randomUUID();
  let postgres: PostgresCluster;
  let proxy: LossyProxy;
  /** How a reader outside reaches the database. */
  let url: string;
  let service: ServiceProcess;

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    proxy = new LossyProxy(postgres.socket);
    url = await postgres.createDatabase();
    await proxy.listen();
    await start();
    await queryOnce(
      url,
      `insert into access_tokens (id, name, digest, scopes, created_at) values (gen_random_uuid(), 'test', $1, $2, now())`,
      [digestOf(token), scopes.map(({ name }) => name)],
    );
  });
  afterAll(async () => {
    await service.end('SIGKILL');
    proxy.close();
    await postgres.remove();
  });

  const start = async () => {
    service = await startService({ DATABASE_URL: proxy.url(url) });
  };
  const kill = () => service.end('SIGKILL');
  const client = () => patientClient(token, () => service.url);
  const valuesOf = (description: string) => ({ projectId, duration: 1.5, description, date: '2026-01-31' });
  const record = async () => (await client().record(valuesOf('recorded'))).id;
  const send = (method: 'PUT' | 'DELETE', id: string, description?: string) =>
    ask(`${service.url}/api/v1/time-logs/${id}`, {
      token,
      method,
      ...(description !== undefined && { body: JSON.stringify(valuesOf(description)) }),
    });
  /** The description of a log in the table; undefined where it is gone. */
  const stored = async (id: string) => {
    const rows = await queryOnce<{ description: string }>(
      url,
      'select description from time_logs where id = $1',
      [id],
    );
    return rows[0]?.description;
  };
  const expectTrueCounts = async () =>
    expect(await queryOnce(url, 'select * from time_log_count_differences()')).toEqual([]);

  it.each(LOSSES)(
    'is answered 503 when the %s of its commit is lost by %s, is whole or not at all, and can be repeated',
    async (_lost, _by, loss) => {
      const isDone = loss.lost === 'answer';
      for (let round = 0; round < ROUNDS; round++) {
        const id = await record();
        const description = randomUUID();
        const lostCorrection = proxy.lose(description, loss);
        expectUnavailable(await send('PUT', id, description));
        await lostCorrection;
        expect(await stored(id)).toBe(isDone ? description : 'recorded');
        expect(await send('PUT', id, description)).toMatchObject({ status: 200, body: { data: { id } } });
        expect(await stored(id)).toBe(description);

        const lostDeletion = proxy.lose(id, loss);
        expectUnavailable(await send('DELETE', id));
        await lostDeletion;
        expect(await stored(id)).toBe(isDone ? undefined : description);
        expect((await send('DELETE', id)).status).toBe(isDone ? 404 : 204);
        expect(await stored(id)).toBeUndefined();
      }
      await expectTrueCounts();
    },
  );

  it('is there when the service is killed between its commit and the answer, and can be repeated', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = await record();
      const description = randomUUID();
      for (const [method, marker, body, again] of [
        ['PUT', description, description, 200],
        ['DELETE', id, undefined, 404],
      ] as const) {
        const lost = proxy.lose(marker, { lost: 'answer', by: 'silence' });
        const outcome = send(method, id, body).catch(() => 'cut');
        await lost;
        await kill();
        expect(await outcome).toBe('cut');
        expect(await stored(id)).toBe(body);
        await start();
        expect((await send(method, id, body)).status).toBe(again);
        expect(await stored(id)).toBe(body);
      }
    }
    await expectTrueCounts();
    await count({ kills: 2 * ROUNDS });
  });

  it(`is never lost once it is acknowledged, through ${KILLS} SIGKILLs of the service`, async () => {
    const patient = client();
    const ids = await Promise.all(Array.from({ length: 8 }, record));
    const [sent, acknowledged] = [new Map<string, string>(), new Map<string, string>()];
    const progress = new EventEmitter();
    let isOver = false;
    const correctOn = async (id: string) => {
      for (let number = 0; !isOver; number++) {
        const description = `${id} ${number}`;
        sent.set(id, description);
        await patient.correct(id, valuesOf(description));
        acknowledged.set(id, description);
        progress.emit('acknowledged');
      }
    };
    const correcting = Promise.all(ids.map(correctOn));
    correcting.catch((error: unknown) => progress.emit('error', error));
    try {
      for (let kills = 0; kills < KILLS; kills++) {
        for (let number = 0; number < 50; number++) await once(progress, 'acknowledged');
        await kill();
        const before = ids.map((id) => [acknowledged.get(id), sent.get(id)]);
        for (const [index, id] of ids.entries()) expect(before[index]).toContain(await stored(id));
        await start();
      }
    } finally {
      isOver = true;
      await correcting;
    }
    for (const id of ids) expect(await stored(id)).toBe(acknowledged.get(id));

    // What a killed service has deleted is gone when its client asks again.
    const deleting = Promise.all(ids.map((id) => patient.delete(id)));
    await Promise.race([deleting, kill()]);
    await start();
    await deleting;
    for (const id of ids) expect(await stored(id)).toBeUndefined();
    await expectTrueCounts();
    await count({ kills: KILLS + 1 });
  });
});
