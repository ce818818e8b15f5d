import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addRows, withSql } from '../support/backup-rows.js';
import { runHere as run } from '../support/service-here.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

let directory: string;
let database: TestDatabase;
const here = () => ({ DATABASE_URL: database.url });
const sql = (text: string) => queryOnce<Record<string, unknown>>(database.url, text);
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'time-logs-awkward-'));
  database = await createMigratedDatabase();
  await withSql(database.url, (source) => addRows(source, 1, 1_500));
});
afterEach(async () => {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

describe('where row security hides rows, even from their owner', () => {
  beforeEach(() =>
    sql(`create policy small on time_logs using (duration < 2);
         alter table time_logs enable row level security, force row level security`),
  );

  it.each([
    ['backup', 'file'],
    ['counts', 'verify'],
  ] as const)('%s refuses, and says what to do', async (command, arg) => {
    const path = arg === 'file' ? join(directory, arg) : arg;
    expect(await run(command, [path], here())).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^row security would hide rows of time_logs from the role test_\w+: use a role with bypassrls in DATABASE_URL, .*\n$/,
      ),
    });
    expect(await readdir(directory)).toEqual([]);
  });
});
