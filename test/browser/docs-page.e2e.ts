import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LOG } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import {
  BROWSER_LIMIT,
  type Browser,
  describeInChromium,
  launchChromium,
  type Locator,
  type Page,
} from '../tools/chromium.js';

describeInChromium('the page of the documentation', () => {
  let app: TestApp;
  let browser: Browser | undefined;

  beforeAll(async () => {
    app = await startTestApp();
    browser = await launchChromium();
  }, BROWSER_LIMIT);
  afterAll(async () => {
    await browser?.close();
    await app.close();
  }, BROWSER_LIMIT);

  it(
    'records a log and lists it, with no error and no request to another host',
    async () => {
      const page = await browser!.newPage();
      const errors: string[] = [];
      const hosts = new Set<string>();
      page.on('console', (line) => {
        if (line.type() === 'error') errors.push(line.text());
      });
      page.on('pageerror', (error) => void errors.push(error.message));
      page.on('request', (request) => hosts.add(new URL(request.url()).origin));

      await page.goto(`${app.url}/docs`);
      await authorize(page, app.token);
      const record = page.locator('#operations-Time_logs-recordTimeLog');
      await open(record);
      const log = { ...LOG, description: 'Tried it out' };
      await record.locator('textarea').fill(JSON.stringify(log));
      const created = await execute(record);
      expect(created.status).toBe('201');
      expect(created.body).toMatchObject({ success: true, data: log });

      const list = page.locator('#operations-Time_logs-listTimeLogs');
      await open(list);
      const listed = await execute(list);
      expect(listed.status).toBe('200');
      const { date, ...item } = (created.body as { data: typeof LOG }).data;
      expect(date).toBe(LOG.date);
      expect(listed.body).toEqual({
        success: true,
        data: [item],
        meta: { total: 1, page: 1, limit: 50 },
      });

      expect(errors).toEqual([]);
      expect([...hosts]).toEqual([app.url]);
    },
    BROWSER_LIMIT,
  );

  it(
    'stays within the width of a phone, operations opened and forms filled in',
    async () => {
      const page = await browser!.newPage({ viewport: { width: 390, height: 844 } });
      await page.goto(`${app.url}/docs`);
      for (const operation of ['Time_logs-recordTimeLog', 'Time_logs-listTimeLogs']) {
        await open(page.locator(`#operations-${operation}`));
      }
      expect(await page.locator('.parameters-col_description input').first().isVisible()).toBe(true);
      const { width, widest } = await page.evaluate<{ width: number; widest: number }>(
        '({ width: innerWidth, widest: document.documentElement.scrollWidth })',
      );
      expect([width, widest]).toEqual([390, 390]);
    },
    BROWSER_LIMIT,
  );

  it(
    'shows what a refusal says',
    async () => {
      const page = await browser!.newPage();
      await page.goto(`${app.url}/docs/`);
      const health = page.locator('#operations-Health-checkHealth');
      await open(health);
      expect(await execute(health)).toEqual({
        status: '401',
        body: { success: false, error: 'UNAUTHORIZED', message: 'a valid bearer token is required' },
      });
    },
    BROWSER_LIMIT,
  );
});

async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.getByLabel('auth-bearer-value').fill(token);
  await page.getByRole('button', { name: 'Apply credentials' }).click();
  await page.locator('.btn-done').click();
}

async function open(operation: Locator): Promise<void> {
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
}

/** Sends the request of an operation and reads the answer as the page shows it. */
async function execute(operation: Locator): Promise<{ status: string; body: unknown }> {
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table tbody tr').first();
  const status = await answer.locator('.response-col_status').first().innerText();
  const body = await answer.locator('.highlight-code code, .highlight-code pre').first().innerText();
  return { status: status.trim().slice(0, 3), body: JSON.parse(body) };
}
