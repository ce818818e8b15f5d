import { randomInt, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { TimeLogClient } from '@time-logs/client';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { timesOf } from '../../support/extent.js';
import type { Loss } from '../../support/lossy-proxy.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { storeToken } from '../tokens.js';
import { ask, expectUnavailable } from './support/ask.js';
import type { IntendedLog } from './support/ledger.js';
import { serve, underWrites } from './support/service-under-writes.js';
import { useCluster, useLossyProxy } from './support/use-cluster.js';

const KILLS = timesOf(50, 2);

/** Few enough that the batches of all writers have room in the queue. */
const BATCH = 100;

const postgres = useCluster();
const proxy = useLossyProxy(postgres);

describe('a service that is killed', () => {
  it.each([
    ['loses no acknowledged log', false, 1],
    ['makes each log once, of writers that repeat a create with its key until it is acknowledged,', true, 1],
    ['stores no part of a batch, and loses none,', false, BATCH],
    ['makes each batch once, of writers that repeat it with its key,', true, BATCH],
  ])(
    `%s through ${KILLS} SIGKILLs under concurrent writes, and serves at once when it is back`,
    // Without a pause, so that a create is in flight at most times.
    (_what, areKeyed, batch) =>
      underWrites({ database: postgres, areKeyed, batch }, async (scene) => {
        const { writers, ledger } = scene;
        let [kills, killsInFlight] = [0, 0];
        // A request in flight may be answered at the moment of the kill: such a kill is repeated, and does not count.
        for (; killsInFlight < KILLS; kills++) {
          const before = ledger.acknowledged.size;
          // Not always after the same number, so that the kills meet the writers in every state.
          const enough = before + (100 + randomInt(50)) * Math.ceil(batch / 10);
          const isTime = () => ledger.acknowledged.size >= enough && ledger.inFlight.size > 0;
          await writers.until(isTime, `100 acknowledged creates since kill ${kills}`);
          const inFlight = [...ledger.inFlight];
          expect(await scene.service.end('SIGKILL')).toBe('SIGKILL');
          await writers.until(
            () => ledger.inFlight.size === 0,
            'an end of every create of the killed service',
          );
          if (inFlight.some((description) => ledger.unknown.get(description) === 'cut')) killsInFlight++;
          await scene.restart();
          await writers.acknowledge(1);
        }
        // The service was never unavailable, only gone.
        expect(ledger.count('refused')).toBe(0);
      }),
  );
});

const COMMITS = timesOf(20, 1);

/** The lost part, how it is lost, whether the creates have keys and are sent again, and the number of logs of each. */
const LOSSES = [
  ['answer', 'close', 'without a key', 1],
  ['answer', 'reset', 'without a key', 1],
  ['answer', 'silence', 'without a key', 1],
  ['statement', 'close', 'without a key', 1],
  ['statement', 'reset', 'without a key', 1],
  ['answer', 'reset', 'with a key', 1],
  ['answer', 'silence', 'with a key', 1],
  ['answer', 'a kill of the service', 'with a key', 1],
  ['statement', 'reset', 'with a key', 1],
  ['answer', 'reset', 'without a key', 20],
  ['answer', 'silence', 'with a key', 20],
  ['statement', 'reset', 'with a key', 20],
] as const;

it.each(LOSSES)(
  'a create is never answered 201 when the %s of its commit is lost by %s: %s; with a key it is then made exactly once: %s logs',
  async (lost, by, key, batch) => {
    const readerUrl = await postgres.createDatabase();
    const storedOf = async (logs: readonly IntendedLog[]) => {
      const descriptions = logs.map(({ description }) => description);
      const sql = 'select from time_logs where description = any ($1)';
      return (await queryOnce(readerUrl, sql, [descriptions])).length;
    };
    const isKeyed = key === 'with a key';
    const isKill = by === 'a kill of the service';
    const options = { database: proxy.url(readerUrl), readerUrl, areKeyed: isKeyed, batch };
    await underWrites(options, async (scene) => {
      const { writers, ledger } = scene;
      for (let round = 0; round < COMMITS; round++) {
        const doomed = ledger.intendAll();
        const isLost = proxy.lose(doomed[0].description, { lost, by: isKill ? 'silence' : by } as Loss);
        const outcome = writers.record(...doomed);
        await isLost;
        if (isKill) await scene.service.end('SIGKILL');
        expect(await outcome).toEqual({ kind: isKill ? 'cut' : 'refused' });
        expect(await storedOf(doomed)).toBe(lost === 'answer' ? batch : 0);
        if (isKill) await scene.restart();
        if (isKeyed) {
          expect(await writers.record(...doomed)).toMatchObject({ kind: 'acknowledged' });
          expect(await storedOf(doomed)).toBe(batch);
        }
        await writers.acknowledge(20);
      }
      if (!isKill) expect(ledger.count('cut')).toBe(0);
      expect(scene.service.child.exitCode).toBeNull();
    });
  },
);

const ROUNDS = timesOf(5, 1);
const KILLS_OF_CORRECTIONS = timesOf(10, 2);

describe('a correction or deletion', () => {
  const projectId = randomUUID();
  /** How a reader outside reaches the database. */
  let url: string;
  /** Good for everything. One that the deployment declares cannot correct. */
  let token: string;
  let port: string;
  let client: TimeLogClient;
  let service: ServiceProcess;

  const start = async () => {
    service = await serve(proxy.url(url), { PORT: port });
  };
  beforeAll(async () => {
    url = await postgres.createDatabase();
    await migrate({ url, migrations });
    token = await storeToken(url);
    port = String(await unusedPort());
    // A start may be slow where much else runs.
    client = new TimeLogClient({ baseUrl: `http://127.0.0.1:${port}`, token, tries: 100, deadline: 60_000 });
  });

  const valuesOf = (description: string) => ({ projectId, duration: 1.5, description, date: '2026-01-31' });
  const record = async () => (await client.record(valuesOf('recorded'))).id;
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

  it(`is never lost once it is acknowledged, through ${KILLS_OF_CORRECTIONS} SIGKILLs of the service`, async () => {
    await start();
    const ids = await Promise.all(Array.from({ length: 8 }, record));
    const [sent, acknowledged] = [new Map<string, string>(), new Map<string, string>()];
    const progress = new EventEmitter();
    let isOver = false;
    const correctOn = async (id: string) => {
      for (let number = 0; !isOver; number++) {
        const description = `${id} ${number}`;
        sent.set(id, description);
        await client.correct(id, valuesOf(description));
        acknowledged.set(id, description);
        progress.emit('acknowledged');
      }
    };
    const correcting = Promise.all(ids.map(correctOn));
    correcting.catch((error: unknown) => progress.emit('error', error));
    try {
      for (let kills = 0; kills < KILLS_OF_CORRECTIONS; kills++) {
        for (let number = 0; number < 50; number++) await once(progress, 'acknowledged');
        await service.end('SIGKILL');
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
    const deleting = Promise.all(ids.map((id) => client.delete(id)));
    await Promise.race([deleting, service.end('SIGKILL')]);
    await start();
    await deleting;
    for (const id of ids) await expectStored(id, undefined);
    await expectTrueCounts();
  });
});
