import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from '@jest/globals';
import createClient from 'openapi-fetch';
import type { paths } from '@time-logs/client';
import type { OpenApiDocument } from './open-api.js';
import { LOG, TIME_LOGS } from './requests.js';

/** The prefix that proxies remove: `/tl/livez` reaches the service as `/livez`. */
const PREFIX = '/tl';

/** A service behind a proxy. */
export interface Site {
  /** Its address for clients, with the prefix and without a slash at the end. */
  readonly base: string;
  readonly token: string;
}

/** Starts a proxy that removes the prefix, and knows no other path. */
export async function startProxy(servicePort: number): Promise<{ base: string; server: Server }> {
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url!.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end('outside the prefix');
      return;
    }
    const { method, headers } = incoming;
    const path = incoming.url!.slice(PREFIX.length);
    const forwarded = request({ port: servicePort, host: '127.0.0.1', method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.rawHeaders);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`, server };
}

function ask(
  { token }: Site,
  url: string,
  init: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<Response> {
  return fetch(url, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
}

function create(site: Site, url: string, body: object = LOG, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...headers };
  return ask(site, url, { method: 'POST', headers: all, body: JSON.stringify(body) });
}

/** The absolute targets of a `Link` header by relation, as a client resolves them. */
function targetsOf(response: Response): Record<string, string> {
  const links = (response.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries(
    [...links].map(([, target, relation]) => [relation!, new URL(target!, response.url).href]),
  );
}

/** The files that a page names, as a browser resolves them. */
function filesOf(html: string, page: string): string[] {
  return [...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path]) => new URL(path!, page).href);
}

/** The behaviour that clients rely on below a prefix, each with a check that throws. */
export const CHECKS: Readonly<Record<string, (site: Site) => Promise<void>>> = {
  async 'links lead through lists, totals and the feed'(site) {
    for (const date of ['2026-01-01', '2026-01-02'])
      expect((await create(site, site.base + TIME_LOGS, { ...LOG, date })).status).toBe(201);
    for (const target of [
      `${TIME_LOGS}?limit=1`,
      `${TIME_LOGS}/?limit=1`,
      `/${TIME_LOGS}?limit=1`,
      `${TIME_LOGS}/totals?by=day&limit=1`,
      `${TIME_LOGS}/totals/?by=day&limit=1`,
      `${TIME_LOGS}/events?limit=1`,
      `${TIME_LOGS}/events/?limit=1`,
    ]) {
      const first = await ask(site, site.base + target);
      const { next, ...others } = targetsOf(first);
      const second = await ask(site, next!);
      expect([target, first.status, second.status]).toEqual([target, 200, 200]);
      expect([target, await second.json()]).not.toEqual([target, await first.json()]);
      for (const other of Object.values(others)) expect((await ask(site, other)).status).toBe(200);
    }
  },

  async 'the Location of a log leads to it, also that of a replay'(site) {
    for (const path of [TIME_LOGS, `${TIME_LOGS}/`, `/${TIME_LOGS}`, TIME_LOGS.toUpperCase()])
      for (const isReplay of [false, true]) {
        const key = { 'idempotency-key': `location of ${path}` };
        const response = await create(site, site.base + path, LOG, key);
        expect(response.headers.get('idempotency-replayed')).toBe(isReplay ? 'true' : null);
        const found = await ask(site, new URL(response.headers.get('location')!, response.url).href);
        expect([path, found.status, await found.json()]).toEqual([path, 200, await response.json()]);
      }
  },

  async 'the server of the document is the address that clients use'(site) {
    const response = await fetch(`${site.base}/openapi.json`);
    const { servers } = (await response.json()) as OpenApiDocument & { servers: { url: string }[] };
    const server = new URL(servers[0]!.url, response.url).href;
    expect(server).toBe(`${site.base}/`);
    // Generated clients append paths, with or without this slash.
    for (const baseUrl of [server, server.slice(0, -1)]) {
      expect(await (await fetch(`${baseUrl}/livez`)).text()).toBe('OK');
      const headers = { Authorization: `Bearer ${site.token}` };
      const { data } = await createClient<paths>({ baseUrl, headers }).GET('/api/v1/time-logs');
      expect(data?.success).toBe(true);
    }
  },

  async 'the page of the documentation and all that it loads are there'(site) {
    for (const path of ['/docs', '/docs/', '//docs']) {
      const page = await fetch(site.base + path);
      const files = filesOf(await page.text(), page.url);
      expect([path, page.status, files.length]).toEqual([path, 200, 3]);
      for (const file of files) expect([file, (await fetch(file)).status]).toEqual([file, 200]);
      const script = files.find((file) => file.endsWith('/start.js'))!;
      const [, document] = /new URL\('(.+)', document\.currentScript/.exec(
        await (await fetch(script)).text(),
      )!;
      const { pathname } = new URL(document!, script);
      expect(pathname.replace('//', '/')).toBe(`${PREFIX}/openapi.json`);
    }
  },
};
