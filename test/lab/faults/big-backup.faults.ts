import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { entities, migrations, note, afterRestore } from '../../../src/app.module.js';
import { backup, checkBackup, restore } from '../../../src/backup/index.js';
import { migrate } from '../../../src/database-setup/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runCommand as run } from '../../support/commands.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

describe('backup and restore of many rows', () => {
  let directory: string;
  let databases: TestDatabase[];
  let file: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-backup-'));
    file = join(directory, 'file');
    databases = [await createTestDatabase(), await createTestDatabase()];
    for (const { url } of databases) await migrate({ url, migrations });
  });
  afterEach(async () => {
    for (const database of databases) await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it('stream them through little memory', async () => {
    const [big, target] = databases.map(({ url }) => url) as [string, string];
    // 80 MB of text, which is more than the heap may have. The programs themselves take 35 of it.
    await withSql(big, (sql) => addRows(sql, 1, 16_000, `repeat(md5(n::text), 156)`));
    const small = ['--max-old-space-size=64'];
    expect(await run('backup', [file], { DATABASE_URL: big }, small)).toMatchObject({ code: 0 });
    expect(await run('restore', [file], { DATABASE_URL: target }, small)).toMatchObject({ code: 0 });
    const sum = (sql: DataSource) =>
      sql.query<unknown[]>(`select count(*), sum(hashtextextended(t::text, 0)) from time_logs t`);
    expect(await withSql(target, sum)).toEqual(await withSql(big, sum));
  });

  it('say how far they have come', async () => {
    const [big, target] = databases.map(({ url }) => url) as [string, string];
    await withSql(big, (sql) => addRows(sql, 1, 110_000));
    const told: string[] = [];
    const options = { entities, migrations, file, report: (text: string) => told.push(text) };
    for (const [act, end] of [
      [() => backup({ url: big, note, ...options }), 'rows'],
      [() => checkBackup(options), 'rows checked'],
      [() => restore({ url: target, afterRestore, ...options }), 'rows'],
    ] as const) {
      told.length = 0;
      await act();
      const steps = new Set(
        told.filter((text) => text.startsWith('time_logs: ') && text.endsWith(` ${end}`)),
      );
      expect(steps.size).toBeGreaterThan(9);
      expect(told.at(-1)).toBe(`time_logs: 110000 ${end}`);
    }
  });
});
