import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startProxy } from '../support/below-prefix.js';
import { LOG, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();
/** The address for clients, with the prefix and without a slash at the end. */
let base: string;
let proxy: Server;

beforeAll(async () => {
  ({ base, server: proxy } = await startProxy(app.port));
});
afterAll(() => {
  proxy.close().closeAllConnections();
});

function ask(
  url: string,
  init: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<Response> {
  return fetch(url, { ...init, headers: { authorization: `Bearer ${app.token}`, ...init.headers } });
}

function create(url: string, body: object = LOG, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...headers };
  return ask(url, { method: 'POST', headers: all, body: JSON.stringify(body) });
}

/** The absolute targets of a `Link` header by relation, as a client resolves them. */
function targetsOf(response: Response): Record<string, string> {
  const links = (response.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries(
    [...links].map(([, target, relation]) => [relation!, new URL(target!, response.url).href]),
  );
}

describe('behind a proxy that removes a prefix', () => {
  it('links lead through lists, totals and the feed', async () => {
    for (const date of ['2026-01-01', '2026-01-02'])
      expect((await create(base + TIME_LOGS, { ...LOG, date })).status).toBe(201);
    for (const target of [
      `${TIME_LOGS}?limit=1`,
      `${TIME_LOGS}/?limit=1`,
      `/${TIME_LOGS}?limit=1`,
      `${TIME_LOGS}/totals?by=day&limit=1`,
      `${TIME_LOGS}/totals/?by=day&limit=1`,
      `${TIME_LOGS}/events?limit=1`,
      `${TIME_LOGS}/events/?limit=1`,
    ]) {
      const first = await ask(base + target);
      const { next, ...others } = targetsOf(first);
      const second = await ask(next!);
      expect([target, first.status, second.status]).toEqual([target, 200, 200]);
      expect([target, await second.json()]).not.toEqual([target, await first.json()]);
      for (const other of Object.values(others)) expect((await ask(other)).status).toBe(200);
    }
  });

  it('the Location of a log leads to it, also that of a replay', async () => {
    for (const path of [TIME_LOGS, `${TIME_LOGS}/`, `/${TIME_LOGS}`, TIME_LOGS.toUpperCase()])
      for (const isReplay of [false, true]) {
        const key = { 'idempotency-key': `location of ${path}` };
        const response = await create(base + path, LOG, key);
        expect(response.headers.get('idempotency-replayed')).toBe(isReplay ? 'true' : null);
        const found = await ask(new URL(response.headers.get('location')!, response.url).href);
        expect([path, found.status, await found.json()]).toEqual([path, 200, await response.json()]);
      }
  });
});
