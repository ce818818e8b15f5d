import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { LOG, refusal } from '../../support/requests.js';
import { useTestApp } from '../../support/test-app.js';
import { describeInChromium, type Locator, type Page, useChromium } from '../tools/chromium.js';

describeInChromium('the page of the documentation', () => {
  const openPage = useChromium();
  const app = useTestApp();

  it('records a log and lists it with one token, no error and no request to another host', async () => {
    const page = await openPage();
    const errors: string[] = [];
    const hosts = new Set<string>();
    page.on('console', (line) => {
      if (line.type() === 'error') errors.push(line.text());
    });
    page.on('pageerror', (error) => void errors.push(error.message));
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));

    await page.goto(`${app.url}/docs`);
    await authorize(page, app.token);
    const record = await open(page, 'recordTimeLog');
    const log = { ...LOG, description: 'Tried it out' };
    await record.locator('textarea').fill(JSON.stringify(log));
    const created = await execute(record);
    expect(created).toEqual({ status: '201', body: { success: true, data: expect.objectContaining(log) } });

    const { date, ...item } = (created.body as { data: typeof LOG }).data;
    expect(date).toBe(LOG.date);
    expect(await execute(await open(page, 'listTimeLogs'))).toEqual({
      status: '200',
      body: { success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } },
    });
    expect(errors).toEqual([]);
    expect([...hosts]).toEqual([app.url, 'data:'].filter((host) => hosts.has(host)));
  });

  it.each(['/docs', '/docs/'])('sends requests below a prefix that a proxy removes (%s)', async (path) => {
    const proxy = createServer(({ method, headers, url }, response) => {
      const [, inner] = url!.split('/tl/');
      if (inner === undefined) response.writeHead(404).end();
      else
        request({ port: app.port, method, path: `/${inner}`, headers }, (answer) =>
          answer.pipe(response.writeHead(answer.statusCode!, answer.rawHeaders)),
        ).end();
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tl`;
    try {
      const page = await openPage();
      await page.goto(base + path);
      await authorize(page, app.token);
      const list = await open(page, 'listTimeLogs');
      expect((await execute(list)).status).toBe('200');
      expect(await list.locator('.request-url pre').innerText()).toContain(`${base}/api/v1/time-logs`);
    } finally {
      proxy.close().closeAllConnections();
    }
  });

  it('keeps the token in memory only, and shows a refusal without one', async () => {
    const page = await openPage();
    await page.goto(`${app.url}/docs`);
    await authorize(page, app.token);
    expect((await execute(await open(page, 'listTimeLogs'))).status).toBe('200');
    const kept = await page.evaluate<unknown>(
      '[document.cookie, { ...localStorage }, { ...sessionStorage }, location.href]',
    );
    expect(JSON.stringify(kept)).not.toContain(app.token);
    await page.reload();
    expect(await execute(await open(page, 'listTimeLogs'))).toEqual({
      status: '401',
      body: refusal('UNAUTHORIZED', 'a valid bearer token is required'),
    });
  });
});

async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize', exact: true }).click();
  const dialog = page.locator('.dialog-ux');
  await dialog.locator('input').fill(token);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

async function open(page: Page, operationId: string): Promise<Locator> {
  const operation = page.locator(`[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  return operation;
}

/** Sends the request of an operation and reads the answer as the page shows it. */
async function execute(operation: Locator): Promise<{ status: string; body: unknown }> {
  await operation.locator('button.execute').click();
  const answer = operation.locator('.live-responses-table');
  const status = await answer.locator('tbody .response-col_status').innerText();
  const text = await answer.locator('tbody .highlight-code pre').first().innerText();
  return { status: status.trim().split(/\s/)[0]!, body: JSON.parse(text) };
}
