import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../support/environment.js';
import { totalOf } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const PROGRAM = join(import.meta.dirname, '../../libs/time-log-client/examples/import-csv.mjs');

describe('the import of a CSV file by the client', () => {
  const app = useTestApp();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'import-csv-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const run = async (rows: readonly string[], token = app.token) => {
    await writeFile(
      join(folder, 'rows.csv'),
      ['projectId,date,duration,description', ...rows, ''].join('\n'),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, join(folder, 'rows.csv')], {
      env: environment({ TIME_LOGS_URL: app.url, TIME_LOGS_TOKEN: token }),
    });
    return stdout;
  };

  it('records each row once, however often it runs, also of a longer file and with another token', async () => {
    const project = randomUUID().toUpperCase();
    const row = (index: number) =>
      `${project},2026-01-${10 + (index % 20)},0.25,"Review", part ${index % 700}`;
    const rows = Array.from({ length: 1_500 }, (_, index) => row(index));
    expect(await run(rows)).toBe('recorded 1500 of 1500 rows\n');
    expect(await run(rows)).toBe('recorded 0 of 1500 rows\n');
    const { token } = await app.tokens.create({
      name: 'another',
      scopes: ['time-logs:read', 'time-logs:write'],
    });
    expect(await run([row(0), ...rows], token)).toBe('recorded 1 of 1501 rows\n');
    expect(await totalOf(app, `projectId=${project}`)).toBe(1_501);
  });
});
