import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { TimeLogClient } from '@time-logs/client';
import { timesOf } from '../../support/extent.js';
import type { Loss } from '../../support/lossy-proxy.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { storeToken } from '../tokens.js';
import { ask, expectUnavailable } from './support/ask.js';
import { serve } from './support/serve.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';

const ROUNDS = timesOf(5, 1);
const KILLS = timesOf(10, 2);

describe('a correction or deletion', () => {
  const projectId = randomUUID();
  const postgres = useCluster();
  const proxy = useLossyProxy(postgres);
  /** How a reader outside reaches the database. */
  let url: string;
  /** Good for everything. One that the deployment declares cannot correct. */
  let token: string;
  let service: ServiceProcess;

  const start = async () => {
    service = await serve(proxy.url(url));
  };
  beforeAll(async () => {
    url = await postgres.createDatabase();
    await start();
    token = await storeToken(url);
    await service.end();
  });

  const kill = () => service.end('SIGKILL');
  /** Finds the service at one name, as behind a balancer; its port is another one after each start. */
  const client = () =>
    new TimeLogClient({
      baseUrl: 'http://service.example',
      token,
      fetch: (address, init) => fetch(address.replace('http://service.example', service.url), init),
      // A start may be slow where much else runs.
      tries: 100,
      deadline: 60_000,
    });
  const valuesOf = (description: string) => ({ projectId, duration: 1.5, description, date: '2026-01-31' });
  const record = async () => (await client().record(valuesOf('recorded'))).id;
  const send = (method: 'PUT' | 'DELETE', id: string, description?: string) =>
    ask(`${service.url}/api/v1/time-logs/${id}`, {
      token,
      method,
      ...(description !== undefined && { body: JSON.stringify(valuesOf(description)) }),
    });
  /** Holds the description of a log in the table, undefined where it is gone, against some that it may have. */
  const expectStored = async (id: string, ...possible: (string | undefined)[]) => {
    const sql = 'select description from time_logs where id = $1';
    const [row] = await queryOnce<{ description: string }>(url, sql, [id]);
    expect(possible).toContain(row?.description);
  };
  const expectTrueCounts = async () =>
    expect(await queryOnce(url, 'select * from time_log_count_faults()')).toEqual([]);

  it.each<Loss>([
    { lost: 'answer', by: 'reset' },
    { lost: 'statement', by: 'reset' },
    { lost: 'answer', by: 'silence' },
  ])(
    'is answered 503 when the $lost of its commit is lost by $by, is whole or not at all, and can be repeated',
    async (loss) => {
      await start();
      const isDone = loss.lost === 'answer';
      for (let round = 0; round < ROUNDS; round++) {
        const id = await record();
        const description = randomUUID();
        const lostCorrection = proxy.lose(description, loss);
        expectUnavailable(await send('PUT', id, description));
        await lostCorrection;
        await expectStored(id, isDone ? description : 'recorded');
        expect(await send('PUT', id, description)).toMatchObject({ status: 200, body: { data: { id } } });
        await expectStored(id, description);

        const lostDeletion = proxy.lose(id, loss);
        expectUnavailable(await send('DELETE', id));
        await lostDeletion;
        await expectStored(id, isDone ? undefined : description);
        expect((await send('DELETE', id)).status).toBe(isDone ? 404 : 204);
        await expectStored(id, undefined);
      }
      await expectTrueCounts();
    },
  );

  it(`is never lost once it is acknowledged, through ${KILLS} SIGKILLs of the service`, async () => {
    await start();
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
        for (const [index, id] of ids.entries()) await expectStored(id, ...before[index]!);
        await start();
      }
    } finally {
      isOver = true;
      await correcting;
    }
    for (const id of ids) await expectStored(id, acknowledged.get(id));

    // If a killed service has deleted a log, the retry of the client does not find it.
    const deleting = Promise.all(ids.map((id) => patient.delete(id)));
    await Promise.race([deleting, kill()]);
    await start();
    await deleting;
    for (const id of ids) await expectStored(id, undefined);
    await expectTrueCounts();
  });
});
