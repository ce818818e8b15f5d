import { createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { entities, migrations, backupMetadata, afterRestore } from '../../../src/app.module.js';
import { backup, checkBackup, restore } from '../../../libs/backup/src/index.js';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runCommand as run } from '../../support/commands.js';
import { useFolder } from '../../support/fixtures.js';
import { canMount, SmallDisk } from './support/full-disk.js';
import { createMigratedDatabase, type TestDatabase } from '../../support/test-database.js';

describe('backup and restore of many rows', () => {
  const inFolder = useFolder('time-logs-backup-');
  const databases: TestDatabase[] = [];
  let big: string;
  let target: string;

  beforeEach(async () => {
    databases.unshift(await createMigratedDatabase(), await createMigratedDatabase());
    [big, target] = databases.map(({ url }) => url) as [string, string];
  });
  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  it('stream them through little memory', async () => {
    const file = inFolder('streamed');
    // 80 MB of text, which is more than the heap may have. The programs themselves take 35 of it.
    await withSql(big, (sql) => addRows(sql, 1, 16_000, `repeat(md5(n::text), 156)`));
    const small = ['--max-old-space-size=64'];
    expect(await run('backup', [file], { DATABASE_URL: big }, small)).toMatchObject({ code: 0 });
    expect(await run('restore', [file], { DATABASE_URL: target }, small)).toMatchObject({ code: 0 });
    const sum = (sql: DataSource) =>
      sql.query<unknown[]>(`select count(*), sum(hashtextextended(t::text, 0)) from time_logs t`);
    expect(await withSql(target, sum)).toEqual(await withSql(big, sum));
  });

  (canMount ? it : it.skip)(
    'leave no part of a file on a full disk (where a disk can be mounted)',
    async () => {
      const place = inFolder('disk');
      await mkdir(place);
      const disk = SmallDisk.mount(place, '64k');
      try {
        await disk.fill();
        expect(await run('backup', [`${place}/file`], { DATABASE_URL: big })).toEqual({
          code: 1,
          stdout: '',
          stderr: `there is no room for ${place}/file (ENOSPC), and nothing was saved: free space in ${place}, or name a file on another disk\n`,
        });
        expect(await readdir(place)).toEqual(['ballast']);
      } finally {
        disk.unmount();
      }
    },
  );

  it('say how far they have come', async () => {
    await withSql(big, (sql) => addRows(sql, 1, 110_000));
    const told: string[] = [];
    const report = (text: string) => told.push(text);
    const options = { entities, migrations, file: inFolder('told'), report };
    for (const [act, end] of [
      [
        () => backup({ url: big, backupMetadata, target: createWriteStream(options.file), ...options }),
        'rows',
      ],
      [() => checkBackup(options), 'rows checked'],
      [() => restore({ url: target, afterRestore, ...options }), 'rows'],
    ] as const) {
      told.length = 0;
      await act();
      const steps = told.filter((text) => text.startsWith('time_logs: ') && text.endsWith(` ${end}`));
      expect(new Set(steps).size).toBeGreaterThan(9);
      expect(told.at(-1)).toBe(`time_logs: 110000 ${end}`);
    }
  });
});
