import { readFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../support/fixtures.js';
import { LOG, TIME_LOGS } from '../support/requests.js';
import { startHere } from '../support/service-here.js';

const PROJECT = join(import.meta.dirname, '..', '..');
/** The requests after which a file that ran for each of them belongs to the path. */
const MAX_REQUESTS = 20;
const TOKEN = 'x'.repeat(40);
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const CREATE = { method: 'POST', headers, body: JSON.stringify(LOG) };

/** Returns the files that CONTRIBUTING lists after a title, such as "- `src/database/{database,outages}.ts`". */
async function listed(title: string): Promise<string[]> {
  const [, list] = (await readFile(join(PROJECT, 'CONTRIBUTING.md'), 'utf8')).split(`${title}\n\n`);
  const [lines] = /^(?:- `.+`\n)+/.exec(list!)!;
  return [...lines.matchAll(/`(.+\/)\{?([^{}`]+?)\}?\.ts`/g)].flatMap(([, folder, names]) =>
    names!.split(',').map((name) => folder! + name),
  );
}

describe('CONTRIBUTING lists the files whose code runs', () => {
  const database = useTestDatabase();
  const session = new Session();
  let url: string;

  beforeAll(async () => {
    ({ url } = await startHere({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN }));
    // A list has a log.
    await fetch(`${url}${TIME_LOGS}`, CREATE);
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  });
  afterAll(async () => {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  });

  async function filesOf(request: RequestInit): Promise<Set<string>> {
    await session.post('Profiler.takePreciseCoverage');
    await (await fetch(`${url}${TIME_LOGS}`, request)).text();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const hasRun = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0));
    const files = hasRun.map((script) => relative(join(PROJECT, 'dist'), fileOf(script.url)));
    return new Set(files.filter((file) => /^(src|libs)\//.test(file)).map((file) => file.slice(0, -3)));
  }

  it.each([
    ['A create:', CREATE],
    ['A list:', { headers }],
  ])('%s', async (title, request) => {
    const expected = (await listed(title)).sort();
    await filesOf(request);
    let files = [...(await filesOf(request))];
    // Keeps what runs each time: a token is looked up every few seconds, and timers fire, also those of other tests.
    for (let requests = 0; requests < MAX_REQUESTS && files.length !== expected.length; requests++) {
      const run = await filesOf(request);
      files = files.filter((file) => run.has(file));
    }
    expect(files.sort()).toEqual(expected);
  });
});

function fileOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url) : url;
}
