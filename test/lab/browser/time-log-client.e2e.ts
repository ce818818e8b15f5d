import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type * as Client from '@time-logs/client';
import { expectedLog } from '../../support/expected-logs.js';
import { LOG } from '../../support/requests.js';
import { type TestApp, useTestApp } from '../../support/test-app.js';
import { describeInChromium, type Page, useChromium } from '../tools/chromium.js';

const COMPILED = join(import.meta.dirname, '..', '..', '..', 'libs', 'time-log-client', 'dist');

describeInChromium('the compiled client in a page of another origin', () => {
  const openPage = useChromium('--host-resolver-rules=MAP app.test 127.0.0.1');
  const pages = servePages();
  let port: number;
  beforeAll(async () => {
    await once(pages.listen(0, '127.0.0.1'), 'listening');
    ({ port } = pages.address() as AddressInfo);
  });
  afterAll(() => void pages.close());
  const app = useTestApp(() => ({
    corsOrigins: ['127.0.0.1', 'app.test'].map((host) => `http://${host}:${port}`),
  }));

  const open = async (host: string) => {
    const page = await openPage();
    await page.goto(`http://${host}:${port}/`);
    return page;
  };

  it.each([
    ['of a secure context', '127.0.0.1', true],
    ['of plain http, which has no crypto.randomUUID()', 'app.test', false],
  ])('records, lists and asks for health in a page %s', async (_what, host, isSecure) => {
    const page = await open(host);
    const context = await page.evaluate('[isSecureContext, "randomUUID" in crypto]');
    expect(context).toEqual([isSecure, isSecure]);
    const log = { ...LOG, projectId: randomUUID() };
    const [recorded, listed] = await recordAndList(page, app, log);
    const { etag, ...body } = recorded;
    const { date, ...item } = body;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect(body).toEqual(expectedLog(log));
    expect([date, listed]).toEqual([log.date, [item]]);
  });
});

/** Records a log and lists its project, in the page. */
function recordAndList(
  page: Page,
  { url, token }: TestApp,
  log: Client.NewTimeLog,
): Promise<[Client.RecordedTimeLog, Client.TimeLog[]]> {
  return page.evaluate(
    async ([path, baseUrl, given, log]) => {
      const { TimeLogClient } = (await import(path)) as typeof Client;
      const client = new TimeLogClient({ baseUrl, token: given });
      await client.health();
      const recorded = await client.record(log);
      const listed = [];
      for await (const item of client.list({ projectId: log.projectId })) listed.push(item);
      return [recorded, listed];
    },
    ['/client/index.js', url, token, log] as const,
  );
}

/** An empty page, and the compiled client as ES modules. */
function servePages(): Server {
  return createServer((request, response) => {
    const path = request.url ?? '';
    const isModule = path.startsWith('/client/');
    const content = isModule ? readFile(join(COMPILED, basename(path))) : Promise.resolve('<!doctype html>');
    content.then(
      (body) => response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html').end(body),
      () => response.writeHead(404).end(),
    );
  });
}
