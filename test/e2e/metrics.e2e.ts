import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { aroundStatements, missingDatabase, useTestApp } from '../support/test-app.js';
import { newGate } from '../support/gate.js';
import { create, list, LOG, remove, send, TIME_LOGS } from '../support/requests.js';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const app = useTestApp();
/** Good for metrics alone. */
let scraper: { authorization: string };

beforeAll(async () => {
  scraper = await bearer('metrics:read');
});

async function bearer(...scopes: string[]): Promise<{ authorization: string }> {
  const { token } = await app.tokens.create({ name: 'of a test', scopes });
  return { authorization: `Bearer ${token}` };
}

/** The samples by name and labels as they are written, such as `http_requests_total{method="GET",…}`. */
async function scrape(of = app, headers = scraper): Promise<Map<string, number>> {
  const { status, text } = await send(of, '/metrics', { headers });
  expect(status).toBe(200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** By how much each sample has grown while something was done; those that have not are left out. */
async function growthDuring(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await scrape();
  await work();
  const after = await scrape();
  const grown = [...after].map(([sample, value]) => [sample, value - (before.get(sample) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, growth]) => growth !== 0));
}

/** Does something while statements that contain a text wait. */
async function whileHeld(text: string, work: () => Promise<unknown>): Promise<void> {
  const gate = newGate();
  const unwatch = aroundStatements(app.dataSource, async (sql, run) => {
    if (sql.includes(text)) await gate.opened;
    return run();
  });
  try {
    await work();
  } finally {
    gate.open();
    unwatch();
  }
}

const requests = (method: string, route: string, status: number | string) =>
  `http_requests_total{method="${method}",route="${route}",status="${status}"}`;
const durations = (method: string, route: string) =>
  `http_request_duration_seconds_count{method="${method}",route="${route}"}`;

/** The id of no log. */
const NONE = '019c1370-4e1b-7000-8000-000000000001';

describe('the metrics', () => {
  it('have names, units and helps as Prometheus wants them', async () => {
    const { headers, text } = await send(app, '/metrics', { headers: scraper });
    expect(headers.get('content-type')).toBe(CONTENT_TYPE);
    const families = [...text.matchAll(/^# HELP (\S+) .+\n# TYPE \1 (\S+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    // Those of the process are named by the library.
    expect(families.filter((family) => !/^(nodejs|process)_/.test(family)).sort()).toEqual([
      'access_token_cache_entries gauge',
      'access_token_cache_hits_total counter',
      'access_token_cache_misses_total counter',
      'database_pool_connections gauge',
      'database_pool_idle_connections gauge',
      'database_pool_waiting_statements gauge',
      'http_request_duration_seconds histogram',
      'http_requests_total counter',
      'time_log_exports_running gauge',
      'time_log_write_batch_size histogram',
      'time_log_write_queue_length gauge',
      'time_log_write_wait_seconds histogram',
    ]);
    expect(families).toContain('process_cpu_seconds_total counter');
  });

  it('count requests by method, route and status', async () => {
    const growth = await growthDuring(async () => {
      await list(app, 'page=2&limit=3');
      await list(app, 'page=x');
      await list(app, '', { headers: { authorization: undefined } });
      await create(app);
      await create(app, ' '.repeat(70_000));
      await remove(app, NONE);
      for (const [method, path] of [
        ['GET', `${TIME_LOGS.toUpperCase()}/`],
        ['HEAD', TIME_LOGS],
        ['DELETE', `${TIME_LOGS}/totals`],
        ['GET', '/livez'],
        ['GET', '/nowhere'],
        ['PROPFIND', TIME_LOGS],
      ] as const)
        await send(app, path, { method });
    });
    const counted = Object.entries(growth).filter(([sample]) => sample.startsWith('http_requests_total'));
    expect(Object.fromEntries(counted)).toEqual({
      [requests('GET', TIME_LOGS, 200)]: 2,
      [requests('GET', TIME_LOGS, 400)]: 1,
      [requests('GET', TIME_LOGS, 401)]: 1,
      [requests('HEAD', TIME_LOGS, 200)]: 1,
      [requests('POST', TIME_LOGS, 201)]: 1,
      [requests('POST', TIME_LOGS, 413)]: 1,
      [requests('GET', '/livez', 200)]: 1,
      // The scrape before.
      [requests('GET', '/metrics', 200)]: 1,
      [requests('GET', 'other', 404)]: 1,
      [requests('DELETE', `${TIME_LOGS}/:id`, 404)]: 1,
      [requests('DELETE', 'other', 405)]: 1,
      [requests('other', 'other', 405)]: 1,
    });
    expect(growth[durations('GET', TIME_LOGS)]).toBe(4);
    expect(growth[durations('POST', TIME_LOGS)]).toBe(2);
  });

  it('have no label that a client can fill', async () => {
    const random = () => randomBytes(9).toString('base64url');
    const ask = (...paths: string[]) =>
      Promise.all(paths.map((path) => send(app, path, { headers: { authorization: undefined } })));
    await ask('/nowhere', `${TIME_LOGS}/x`);
    const before = new Set((await scrape()).keys());
    await ask(`/${random()}`, `/${random()}?x=${random()}`, `${TIME_LOGS}/${random()}`);
    const added = [...(await scrape()).keys()].filter((sample) => !before.has(sample));
    expect(added.filter((sample) => !/^(nodejs|process)_/.test(sample))).toEqual([]);
  });

  it('have how many logs were committed together, and how long each waited', async () => {
    const growth = await growthDuring(() => Promise.all(Array.from({ length: 60 }, () => create(app, LOG))));
    expect(growth[requests('POST', TIME_LOGS, 201)]).toBe(60);
    expect(growth.time_log_write_batch_size_sum).toBe(60);
    const commits = growth.time_log_write_batch_size_count!;
    expect(commits).toBeLessThan(60);
    expect(growth['time_log_write_batch_size_bucket{le="+Inf"}']).toBe(commits);
    expect(growth.time_log_write_wait_seconds_count).toBe(60);
    expect(growth.time_log_write_wait_seconds_sum).toBeGreaterThan(0);
  });

  it('have the connections to the database, without it too', async () => {
    // The token of the scraper is known then.
    await scrape();
    await missingDatabase(app, async () => {
      expect((await scrape()).get('database_pool_waiting_statements')).toBe(0);
    });
    let lists: Promise<unknown> | undefined;
    await whileHeld('page_time_logs', () =>
      eventually(async () => {
        // Again after they were refused: a busy machine may take longer than the deadline of a request.
        lists ??= Promise.all(Array.from({ length: 30 }, () => list(app))).finally(() => (lists = undefined));
        const busy = await scrape();
        expect(busy.get('database_pool_connections')).toBe(10);
        expect(busy.get('database_pool_idle_connections')).toBe(0);
        expect(busy.get('database_pool_waiting_statements')).toBeGreaterThan(0);
      }),
    );
    await lists;
  });
});
