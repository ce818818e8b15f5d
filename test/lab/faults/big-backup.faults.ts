import { mkdir, readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runCommand as run } from '../../support/commands.js';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { canMount, SmallDisk } from './support/full-disk.js';

describe('backup and restore of many rows', () => {
  const inFolder = useFolder('time-logs-backup-');
  const big = useTestDatabase();
  const target = useTestDatabase();

  it('stream them through little memory', async () => {
    const file = inFolder('streamed');
    // 80 MB of text, which is more than the heap may have. The programs themselves take 35 of it.
    await withSql(big.url, (sql) => addRows(sql, 1, 16_000, `repeat(md5(n::text), 156)`));
    const small = ['--max-old-space-size=64'];
    expect(await run('backup', [file], { DATABASE_URL: big.url }, small)).toMatchObject({ code: 0 });
    expect(await run('restore', [file], { DATABASE_URL: target.url }, small)).toMatchObject({ code: 0 });
    const sum = (sql: DataSource) =>
      sql.query<unknown[]>(`select count(*), sum(hashtextextended(t::text, 0)) from time_logs t`);
    expect(await withSql(target.url, sum)).toEqual(await withSql(big.url, sum));
  });

  (canMount ? it : it.skip)(
    'leave no part of a file on a full disk (where a disk can be mounted)',
    async () => {
      const place = inFolder('disk');
      await mkdir(place);
      const disk = SmallDisk.mount(place, '64k');
      try {
        await disk.fill();
        expect(await run('backup', [`${place}/file`], { DATABASE_URL: big.url })).toEqual({
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
});
