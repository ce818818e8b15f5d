import { execFile, spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { loadConfig } from '../../../src/process/config.js';
import { environment } from '../../support/environment.js';
import { startProxy } from '../../support/below-prefix.js';
import { DOCUMENT_TEXT, type OpenApiDocument } from '../../support/open-api.js';
import { create, idOf, LOG, refusal } from '../../support/requests.js';
import { useTestApp } from '../../support/test-app.js';
import {
  describeInChromium,
  type Locator,
  type Page,
  type PageOptions,
  useChromium,
} from '../tools/chromium.js';

/** Pixels of a small laptop, and of a phone. */
const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** The text that is hardest to quote. */
const ODD = `it's "quoted" \\ $TOKEN \`x\` ''' \\' 100 % ü 😀`;

const { paths } = JSON.parse(DOCUMENT_TEXT) as OpenApiDocument;
const operationIds = Object.values(paths).flatMap((item) =>
  Object.values(item).map((operation) => operation!.operationId),
);

describeInChromium('the page of the documentation', () => {
  const openPage = useChromium();
  const app = useTestApp();

  const visit = async (options: PageOptions = { viewport: SCREEN }) => {
    const page = await openPage(options);
    await page.goto(`${app.url}/docs`);
    return page;
  };

  it('records a log and lists it, with no error and no request to another host', async () => {
    const page = await openPage();
    const errors: string[] = [];
    const hosts = new Set<string>();
    page.on('console', (line) => {
      if (line.type() === 'error') errors.push(line.text());
    });
    page.on('pageerror', (error) => void errors.push(error.message));
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));

    await page.goto(`${app.url}/docs`);
    await page.getByLabel('Paste it here:').fill(app.token);
    const record = await open(page, 'recordTimeLog');
    const log = { ...LOG, description: 'Tried it out' };
    await record.locator('textarea').fill(JSON.stringify(log));
    const created = await execute(record);
    expect(created.status).toBe('201');
    expect(created.body).toMatchObject({ success: true, data: log });

    const listed = await execute(await open(page, 'listTimeLogs'));
    const { date, ...item } = (created.body as { data: typeof LOG }).data;
    expect(date).toBe(LOG.date);
    expect(listed).toEqual({
      status: '200',
      body: { success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } },
    });

    expect(errors).toEqual([]);
    expect([...hosts]).toEqual([app.url]);
  });

  it.each(['/docs', '/docs/'])(
    'sends requests and shows samples below a prefix that a proxy removes (%s)',
    async (path) => {
      const { base, server } = await startProxy(app.port);
      try {
        const page = await openPage();
        await page.goto(base + path);
        await page.getByLabel('Paste it here:').fill(app.token);
        const get = await open(page, 'listTimeLogs');
        expect(await get.locator('.samples .highlight-code pre').innerText()).toContain(
          `'${base}/api/v1/time-logs`,
        );
        expect((await execute(get)).status).toBe('200');
      } finally {
        server.close().closeAllConnections();
      }
    },
  );

  it('patches one version of a log, and offers an export as a file', async () => {
    const page = await visit();
    await page.getByLabel('Paste it here:').fill(app.token);
    const created = await create(app, LOG);
    const patch = await open(page, 'patchTimeLog');
    await patch.getByPlaceholder('id', { exact: true }).fill(idOf(created));
    await patch.getByPlaceholder('If-Match').fill(created.headers.get('etag')!);
    await patch.locator('textarea').fill('{"duration":2}');
    expect(await execute(patch)).toMatchObject({ status: '200', body: { data: { ...LOG, duration: 2 } } });
    await patch.locator('button.execute').click();
    await patch.locator('.live h4').getByText('412').waitFor();
    const exported = await open(page, 'exportTimeLogs');
    await exported.locator('button.execute').click();
    await exported.locator('.live a[download]').waitFor();
  });

  it('says in three lines how to begin, and where the token is', async () => {
    const page = await visit();
    const items = await page.locator('header li').allInnerTexts();
    const file = join(basename(loadConfig({}, false).dataDir), 'access-token');
    expect(items).toEqual([
      expect.stringContaining(`cat ${file}`),
      expect.stringContaining('Paste it here:'),
      expect.stringContaining('press Execute'),
    ]);
  });

  it('hides the token, and keeps it nowhere', async () => {
    const page = await visit();
    const field = page.getByLabel('Paste it here:');
    await field.fill(app.token);
    expect(await field.getAttribute('type')).toBe('password');
    const health = await open(page, 'checkHealth');
    await health.locator('button.execute').click();
    await health.locator('.live').getByText('OK').waitFor();
    expect(await page.content()).not.toContain(app.token);
    const kept = await page.evaluate<unknown>(
      '[document.cookie, { ...localStorage }, { ...sessionStorage }, location.href]',
    );
    expect(JSON.stringify(kept)).not.toContain(app.token);
    await page.reload();
    expect(await field.inputValue()).toBe('');
  });

  it('shows each operation on one screen, opened: form, samples, answers and errors', async () => {
    const page = await visit();
    for (const operationId of operationIds) {
      const operation = await open(page, operationId);
      await operation.getByText('Errors: 4').waitFor();
      const { height } = (await operation.boundingBox())!;
      expect([operationId, height <= SCREEN.height, height]).toEqual([operationId, true, height]);
      await operation.locator('.opblock-summary-control').click();
    }
  });

  it('stays within the width of a phone, everything opened and filled in', async () => {
    const page = await visit({ viewport: PHONE });
    await page.getByLabel('Paste it here:').fill(app.token);
    for (const operationId of operationIds) await open(page, operationId);
    await execute(page.locator('[id$="-recordTimeLog"]'));
    for (const details of await page.locator('details').all()) await details.locator('summary').click();
    expect(await page.locator('.parameters-col_description input').first().isVisible()).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  });

  it('is dark where the system is, at once when that changes', async () => {
    const page = await visit({ colorScheme: 'dark' });
    await open(page, 'recordTimeLog');
    const texts = ['header', '.opblock.is-open .opblock-description p'];
    for (const text of texts) expect(await lightnessOf(page, text, 'color')).toBeGreaterThan(180);
    expect(await lightnessOf(page, 'html', 'backgroundColor')).toBeLessThan(60);
    expect(await lightnessOf(page, '.expand-operation svg path', 'fill')).toBeGreaterThan(180);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html:not(.dark-mode)').waitFor();
    for (const text of texts) expect(await lightnessOf(page, text, 'color')).toBeLessThan(100);
  });

  it('finds operations by words of their path, names and description', async () => {
    const page = await visit();
    const search = page.getByLabel('Search operations');
    const found = () => page.locator('.opblock-summary-description').allInnerTexts();
    const last = page.locator('.opblock').nth(operationIds.length - 1);
    await last.waitFor();
    expect(await found()).toHaveLength(operationIds.length);
    for (const [words, summary] of [
      ['record POST piece', 'Record a time log'],
      ['Idempotency-Key finished', 'Record a time log'],
      ['health run', 'Does the process run?'],
    ] as const) {
      await search.fill(words);
      await page.locator('.opblock').nth(1).waitFor({ state: 'detached' });
      expect(await found()).toEqual([summary]);
    }
    await search.fill('no such word');
    await page.getByText('No operation contains all of these words.').waitFor();
    await search.fill('');
    await last.waitFor();
  });

  it.each([
    ['curl', 'sh', '-c'],
    ['JavaScript', process.execPath, '--input-type=module', '-e'],
    ['Python', 'python3', '-c'],
  ])('shows a program in %s that sends what the form does', async (language, program, ...args) => {
    if (spawnSync(program === 'sh' ? 'curl' : program, ['--version']).status !== 0) {
      process.stderr.write(`skipped, since its program is not installed: the sample in ${language}\n`);
      return;
    }
    const operation = await open(await visit(), 'recordTimeLog');
    const key = `${language}'s "key" \\ $TOKEN`;
    const log = { ...LOG, description: ODD };
    await operation.getByPlaceholder('Idempotency-Key').fill(key);
    await operation.locator('textarea').fill(JSON.stringify(log, undefined, 2));
    await operation.getByRole('tab', { name: language }).click();
    const sample = operation.locator('.samples .highlight-code pre');
    await sample.getByText('😀').waitFor();
    const env = environment({ TOKEN: app.token });
    const { stdout } = await promisify(execFile)(program, [...args, await sample.innerText()], { env });
    const { data } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { data: typeof LOG };
    expect(data).toMatchObject(log);
    // The same key and values get the first answer again: so the key was sent as it is.
    const again = await create(app, log, { 'idempotency-key': key });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual({ success: true, data });
  });

  it('shows what a refusal says, and that no answer came', async () => {
    const page = await openPage();
    await page.goto(`${app.url}/docs/`);
    await page.route('**/livez', (route) => route.abort());
    const liveness = await open(page, 'checkLiveness');
    await liveness.locator('button.execute').click();
    await liveness.locator('.live').getByText('Failed to fetch').waitFor();
    const health = await open(page, 'checkHealth');
    expect(await execute(health)).toEqual({
      status: '401',
      body: refusal('UNAUTHORIZED', 'a valid bearer token is required'),
    });
    await health.locator('.live').getByText('step 2').waitFor();
  });
});

async function open(page: Page, operationId: string): Promise<Locator> {
  const operation = page.locator(`[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('button.execute').waitFor();
  return operation;
}

/** Sends the request of an operation and reads the answer as the page shows it. */
async function execute(operation: Locator): Promise<{ status: string; body: unknown }> {
  await operation.locator('button.execute').click();
  const answer = operation.locator('.live');
  const [status] = (await answer.locator('h4').innerText()).split(' ');
  return { status: status!, body: JSON.parse(await answer.locator('.highlight-code pre').innerText()) };
}

/** From 0, black, to 255, white. */
async function lightnessOf(page: Page, place: string, property: string): Promise<number> {
  const color = await page.evaluate<string>(
    `getComputedStyle(document.querySelector('${place}')).${property}`,
  );
  const [red, green, blue] = color.match(/\d+/g)!.map(Number) as [number, number, number];
  return (red + green + blue) / 3;
}
