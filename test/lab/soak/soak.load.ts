import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { sendRaw } from '../../support/raw-http.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { TIME_LOGS } from '../../support/requests.js';
import { eventually } from '../../support/eventually.js';
import { measureProcess } from '../bench/measure.js';
import { TOKEN, underWrites } from '../faults/support/service-under-writes.js';
import { killBackend, useCluster } from '../faults/support/use-cluster.js';

const { MINUTES = '30' } = process.env;
const MINUTE = 60_000;
/** Minutes of load before anything is compared: compiled code and caches are there then. */
const WARM_UP = 2;
/** Milliseconds between two faults, and those for which the database is away. */
const FAULTS = { every: 20_000, outage: 1_000 };
/** Creates whose clients go away at the same time. */
const CROWD = 100;
/** The part of the memory that may come on top of what it was: the heap is not swept to its end at any given moment. */
const MOST_GROWTH = 0.15;

const post = (body: string | Buffer, type = 'application/json'): RequestInit => ({
  method: 'POST',
  body: body as string,
  headers: { 'content-type': type },
});
const BAD: readonly [status: number, init: RequestInit, path?: string][] = [
  [400, post('{')],
  [400, post('[]')],
  [400, post('{"duration":0,"unknown":1}')],
  [400, post(`{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)],
  [400, post(Buffer.from('{"description":"\xff"}', 'latin1'))],
  [413, post(' '.repeat(70_000))],
  [415, post('x', 'text/plain')],
  [400, {}, `${TIME_LOGS}?page=0&limit=x&x=1`],
  [404, {}, '/nowhere'],
  [405, { method: 'DELETE' }],
];

const postgres = useCluster();

it(`a service holds after ${MINUTES} minutes with a fault every 20 seconds what it held after two`, async () => {
  expect(Number(MINUTES)).toBeGreaterThan(WARM_UP);
  await underWrites({ database: postgres, writers: 4, pace: 20 }, async (scene) => {
    const { service, url, writers, ledger } = scene;
    const unexpected: string[] = [];
    let [others, faults] = [0, 0];
    const note = (allowed: readonly number[], status: number, text: string) => {
      others++;
      if (!allowed.includes(status)) unexpected.push(`${status} ${text}`);
    };
    // While the database is away 503 is right where it is needed.
    const ask = async (allowed: readonly number[], path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${TOKEN}`, ...(init.headers as Record<string, string>) };
      const answer = await fetch(service.url + path, { ...init, headers });
      note(allowed, answer.status, await answer.text());
    };
    const sendBad = async () => {
      for (const [status, init, path = TIME_LOGS] of BAD) await ask([status], path, init);
      const stranger = `Bearer tl_${randomBytes(32).toString('base64url')}`;
      await ask([401, 503], TIME_LOGS, { headers: { authorization: stranger } });
      const raw = await sendRaw(service.port, 'nonsense\r\n\r\n');
      note([400], Number(raw.slice(9, 12)), raw);
    };
    /** Sends a whole create and is gone before the answer. */
    const abort = async () => {
      const log = ledger.intend();
      const body = JSON.stringify(log);
      const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(
        `POST ${TIME_LOGS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        () => socket.resetAndDestroy(),
      );
      ledger.settle(log, { kind: 'cut' });
    };
    const outage = async (how: 'SIGINT' | 'SIGQUIT') => {
      await postgres.end(how);
      await delay(FAULTS.outage);
      await postgres.start();
    };
    const kinds = [
      () => killBackend(postgres).then(() => eventually(() => postgres.query('select'))),
      () => outage('SIGINT'),
      () => Promise.all(Array.from({ length: CROWD }, abort)),
      () => outage('SIGQUIT'),
    ];
    const look = async () => {
      const ours = `select from pg_stat_activity where application_name = 'time-logs'`;
      const connections = (await queryOnce(url, ours)).length;
      const { pid } = service.child;
      const [{ memory }, files] = [await measureProcess(pid!), await readdir(`/proc/${pid}/fd`)];
      return { memory: Math.round(memory / 2 ** 20), files: files.length, connections };
    };
    /** Loads the service with all kinds of clients for some minutes; what it holds when they have gone. */
    const load = async (from: number, to: number) => {
      const end = new AbortController();
      const repeat = async (pause: number, act: () => Promise<unknown>) => {
        while (!end.signal.aborted) {
          await act();
          await delay(pause, undefined, { signal: end.signal }).catch(() => undefined);
        }
      };
      const working = Promise.all([
        ...[1, 2].map(() => repeat(20, () => ask([200, 503], `${TIME_LOGS}?from=2011-01-01&limit=20`))),
        ...[1, 2].map(() => repeat(500, sendBad)),
        repeat(100, () => ask([200, 503], '/health')),
        repeat(200, abort),
        repeat(FAULTS.every, async () => kinds[faults++ % kinds.length]!()),
      ]);
      for (let minute = from; minute <= to; minute++) {
        await Promise.race([delay(MINUTE), working]);
        const done = `${ledger.acknowledged.size} acknowledged, ${others} other requests, ${faults} faults`;
        process.stderr.write(`minute ${minute}: ${done}, ${JSON.stringify(await eventually(look))}\n`);
      }
      end.abort();
      await working;
      await writers.stop();
      // The pool closes its idle connections.
      await eventually(async () => expect((await look()).connections).toBe(0));
      const rest = await look();
      writers.start();
      return rest;
    };
    const before = await load(1, WARM_UP);
    const after = await load(WARM_UP + 1, Number(MINUTES));
    process.stderr.write(`at rest ${JSON.stringify(before)} before, ${JSON.stringify(after)} after\n`);
    expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
    expect(unexpected).toEqual([]);
    expect(after.memory).toBeLessThanOrEqual(before.memory * (1 + MOST_GROWTH));
    expect(after.files).toBeLessThanOrEqual(before.files);
  });
});
