import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { connected } from '../../support/postgres-cluster.js';
import { startService } from '../../support/service-process.js';
import { percentile } from '../bench/statistics.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { useCluster } from '../faults/support/use-cluster.js';

const { MINUTES = '20' } = process.env;
const MINUTE = 60_000;
const PROJECTS = Array.from({ length: 1_000 }, () => crypto.randomUUID());
/** Requests a second, each due at its own time, so that no wait is left out. */
const RATE = 500;
const LISTS = { 'all, page 1': '?limit=50', 'all, page 20': '?limit=50&page=20', 'one project': '' };
/** Minutes of load before the snapshot, and after its end. */
const AROUND = { before: 2, after: 3 };

const postgres = useCluster();

// A measurement: it prints how long creates and lists take in each minute, and how many failed.
it(`creates and lists before, while and after a snapshot is held for ${MINUTES} minutes`, async () => {
  const url = await postgres.createDatabase();
  const service = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  try {
    for (let minute = 1; minute <= AROUND.before; minute++)
      await load(`before, minute ${minute}`, service.port, agent);
    const holder = await connected(url);
    await holder.query('begin isolation level repeatable read; select count(*) from time_logs');
    for (let minute = 1; minute <= Number(MINUTES); minute++)
      await load(`held, minute ${minute}`, service.port, agent);
    await holder.end();
    for (let minute = 1; minute <= AROUND.after; minute++)
      await load(`after, minute ${minute}`, service.port, agent);
  } finally {
    agent.destroy();
    await service.end('SIGKILL');
  }
});

/** Creates over all projects at a steady pace for a minute, and beside them a list of each kind every second. */
async function load(name: string, port: number, agent: Agent): Promise<void> {
  const latencies: Record<string, number[]> = {};
  let refused = 0;
  const asked: Promise<void>[] = [];
  const begun = performance.now();
  const ask = (kind: string, due: number, query: string, body?: string) =>
    asked.push(
      statusOf(port, agent, query, body).then((status) => {
        if (status === (kind === 'create' ? 201 : 200))
          (latencies[kind] ??= []).push(performance.now() - due);
        else refused++;
      }),
    );
  for (let number = 0; number < (MINUTE / 1_000) * RATE; number++) {
    const due = begun + (number * 1_000) / RATE;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    const projectId = PROJECTS[Math.floor(Math.random() * PROJECTS.length)]!;
    ask('create', due, '', JSON.stringify({ projectId, duration: 1.5, date: dayBefore(number % 400) }));
    if (number % RATE > 0) continue;
    for (const [kind, query] of Object.entries(LISTS)) ask(kind, due, query || `?projectId=${projectId}`);
  }
  await Promise.all(asked);
  const texts = Object.entries(latencies).map(([kind, list]) => {
    const sorted = list.toSorted((a, b) => a - b);
    return `${kind} ${sorted.length}: ${[0.5, 0.99].map((share) => percentile(sorted, share).toFixed(1)).join(', ')}`;
  });
  process.stderr.write(`${name}, p50 and p99 in ms: ${texts.join('; ')}; ${refused} answered otherwise
`);
  expect(Object.keys(latencies).sort()).toEqual(['create', ...Object.keys(LISTS)].sort());
}

/** A day in 2026 or before, as YYYY-MM-DD. */
function dayBefore(days: number): string {
  return new Date(Date.UTC(2026, 11, 31) - days * 86_400_000).toISOString().slice(0, 10);
}

/** 0 where there is no whole answer. */
function statusOf(port: number, agent: Agent, query: string, body?: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const path = `/api/v1/time-logs${query}`;
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, method, path, headers, agent })
      .on('response', (answer) =>
        answer.resume().on('close', () => resolve(answer.complete ? answer.statusCode! : 0)),
      )
      .on('error', () => resolve(0))
      .end(body);
  });
}
