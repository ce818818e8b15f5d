import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { connected } from '../../support/postgres-cluster.js';
import { percentiles } from '../bench/statistics.js';
import { serve } from '../faults/support/serve.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { TIME_LOGS } from '../../support/requests.js';
import { useCluster } from '../faults/support/use-cluster.js';

const { MINUTES = '20' } = process.env;
const PROJECTS = Array.from({ length: 1_000 }, () => crypto.randomUUID());
/** Requests a second, each due at its own time, so that no wait is left out. */
const RATE = 500;
const LISTS = { 'all, page 1': 'limit=50', 'all, page 20': 'limit=50&page=20', 'one project': '' };
/** Minutes of load before the snapshot, and after its end. */
const AROUND = { before: 2, after: 3 };

const postgres = useCluster();

// A measurement: it prints how long creates and lists take in each minute, and how many failed.
it(`creates and lists before, while and after a snapshot is held for ${MINUTES} minutes`, async () => {
  const url = await postgres.createDatabase();
  const { port } = await serve(url);
  const loadFor = async (when: string, minutes: number) => {
    for (let minute = 1; minute <= minutes; minute++) await load(`${when}, minute ${minute}`, port);
  };
  await loadFor('before', AROUND.before);
  const holder = await connected(url);
  await holder.query('begin isolation level repeatable read; select count(*) from time_logs');
  await loadFor('held', Number(MINUTES));
  await holder.end();
  await loadFor('after', AROUND.after);
});

/** Creates over all projects at a steady pace for a minute, and beside them a list of each kind every second. */
async function load(name: string, port: number): Promise<void> {
  const latencies: Record<string, number[]> = {};
  let refused = 0;
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const ask = async (kind: string, due: number, query: string, body?: object) => {
    const sending = body && { method: 'POST', body: JSON.stringify(body) };
    const sent = fetch(`http://127.0.0.1:${port}${TIME_LOGS}?${query}`, { headers, ...sending });
    const status = await sent.then(async (answer) => answer.text().then(() => answer.status)).catch(() => 0);
    if (status === (body ? 201 : 200)) (latencies[kind] ??= []).push(performance.now() - due);
    else refused++;
  };
  const begun = performance.now();
  const asked: Promise<unknown>[] = [];
  for (let number = 0; number < 60 * RATE; number++) {
    const due = begun + (number * 1_000) / RATE;
    if (due > performance.now()) await delay(due - performance.now());
    const projectId = PROJECTS[Math.floor(Math.random() * PROJECTS.length)]!;
    asked.push(ask('create', due, '', { projectId, duration: 1.5, date: dayBefore(number % 400) }));
    if (number % RATE === 0)
      for (const [kind, query] of Object.entries(LISTS))
        asked.push(ask(kind, due, query || `projectId=${projectId}`));
  }
  await Promise.all(asked);
  const texts = Object.entries(latencies).map(
    ([kind, list]) => `${kind} ${list.length}: ${percentiles(list, 0.5, 0.99).join(', ')}`,
  );
  process.stderr.write(`${name}, p50 and p99 in ms: ${texts.join('; ')}; ${refused} answered otherwise\n`);
  expect(Object.keys(latencies).sort()).toEqual(['create', ...Object.keys(LISTS)].sort());
}

/** A day in 2026 or before, as YYYY-MM-DD. */
function dayBefore(days: number): string {
  return new Date(Date.UTC(2026, 11, 31) - days * 86_400_000).toISOString().slice(0, 10);
}
