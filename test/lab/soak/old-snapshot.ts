import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { removeLibpqVariables } from '../../../src/config.js';
import { percentile } from '../bench/statistics.js';
import { PostgresCluster } from '../../support/postgres-cluster.js';
import { startService } from '../../support/service-process.js';

const USAGE = 'Usage: npm run suite -- snapshot [MINUTES]   (20; at least 1)';
const TOKEN = 'a-token-that-the-deployment-declares';
const MINUTE = 60_000;
const PROJECTS = 1_000;
/** Requests a second, each due at its own time, so that no wait is left out. */
const RATE = 500;
const LISTS = {
  'all, page 1': '?limit=50',
  'all, page 20': '?limit=50&page=20',
  'one project': '',
};
/** Minutes of load before the snapshot, and after its end. */
const AROUND = { before: 2, after: 3 };

type Latencies = Record<string, number[]>;

/** Creates over all projects at a steady pace, and beside them a list of each kind every second. */
class Load {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });
  private readonly projectIds = Array.from({ length: PROJECTS }, () => crypto.randomUUID());

  constructor(private readonly port: number) {}

  /** Loads the service for a minute. */
  async run(): Promise<{ latencies: Latencies; refused: number }> {
    const latencies: Latencies = { create: [] };
    const asked: Promise<void>[] = [];
    let refused = 0;
    const begun = performance.now();
    const ask = (kind: string, due: number, status: number, ...[query, body]: [string, string?]) =>
      asked.push(
        this.ask(query, body).then((answer) => {
          if (answer === status) (latencies[kind] ??= []).push(performance.now() - due);
          else refused++;
        }),
      );
    for (let number = 0; number < (MINUTE / 1_000) * RATE; number++) {
      const due = begun + (number * 1_000) / RATE;
      const early = due - performance.now();
      if (early > 0) await delay(early);
      const projectId = this.projectIds[Math.floor(Math.random() * PROJECTS)]!;
      ask(
        'create',
        due,
        201,
        '',
        JSON.stringify({ projectId, duration: 1.5, date: dayBefore(number % 400) }),
      );
      if (number % RATE > 0) continue;
      for (const [kind, query] of Object.entries(LISTS))
        ask(kind, due, 200, query || `?projectId=${projectId}`);
    }
    await Promise.all(asked);
    return { latencies, refused };
  }

  close(): void {
    this.agent.destroy();
  }

  /** The status of the answer; 0 where there is none. */
  private ask(query: string, body?: string): Promise<number> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const path = `/api/v1/time-logs${query}`;
    const method = body === undefined ? 'GET' : 'POST';
    return new Promise((resolve) => {
      request({ host: '127.0.0.1', port: this.port, method, path, headers, agent: this.agent })
        .on('response', (answer) =>
          answer.resume().on('close', () => resolve(answer.complete ? answer.statusCode! : 0)),
        )
        .on('error', () => resolve(0))
        .end(body);
    });
  }
}

/** A day in 2026 or before, as YYYY-MM-DD. */
function dayBefore(days: number): string {
  return new Date(Date.UTC(2026, 11, 31) - days * 86_400_000).toISOString().slice(0, 10);
}

removeLibpqVariables(process.env);
try {
  const [text = '20', ...rest] = process.argv.slice(2);
  if (!/^[1-9]\d{0,2}$/.test(text) || rest.length > 0) throw new Error(USAGE);
  await measure(Number(text));
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
}

/**
 * Prints for each minute how long creates and lists take, before, while and after a snapshot is held for so many
 * minutes.
 */
async function measure(minutes: number): Promise<void> {
  const postgres = await PostgresCluster.create();
  try {
    const url = await postgres.createDatabase();
    const service = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
    try {
      const load = new Load(service.port);
      for (let minute = 0; minute < AROUND.before; minute++) print('before', await load.run());
      const holder = new pg.Client({ connectionString: url });
      await holder.connect();
      await holder.query('begin isolation level repeatable read');
      await holder.query('select count(*) from time_logs');
      for (let minute = 1; minute <= minutes; minute++) print(`held, minute ${minute}`, await load.run());
      await holder.end();
      for (let minute = 1; minute <= AROUND.after; minute++)
        print(`after, minute ${minute}`, await load.run());
      load.close();
    } finally {
      await service.end('SIGKILL');
    }
  } finally {
    await postgres.remove();
  }
}

/** p50 and p99 in milliseconds, and how many were answered. */
function print(name: string, { latencies, refused }: { latencies: Latencies; refused: number }): void {
  const texts = Object.entries(latencies).map(([kind, list]) => {
    const sorted = list.toSorted((a, b) => a - b);
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)].map((ms) => ms.toFixed(1));
    return `${kind} ${sorted.length}: ${p50}, ${p99}`;
  });
  console.log(`${name}: ${texts.join('; ')}; not answered as they should be: ${refused}`);
}
