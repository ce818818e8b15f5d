import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { TIME_LOGS } from '../../support/requests.js';
import { eventually } from '../eventually.js';
import { useService } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { mkdir, readdir } from 'node:fs/promises';
import type { DataSource } from 'typeorm';
import { addRows, withSql } from '../../support/backup-rows.js';
import { runCommand as run } from '../../support/commands.js';
import { canMount, SmallDisk } from './support/full-disk.js';

const EXPORT = `${TIME_LOGS}/export?format=ndjson`;
const LOGS = 30_000;
const REQUEST = `GET ${EXPORT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
const database = useTestDatabase();
const service = useService(database);
beforeAll(() =>
  queryOnce(
    database.url,
    `insert into time_logs (id, project_id, duration, description, date)
     select ('019c1370-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid,
            '0b000000-0000-4000-8000-000000000001', 1, repeat('x', 5000), '2026-01-31'
       from generate_series(1, ${LOGS}) n`,
  ),
);

const running = () =>
  queryOnce<{ pid: number }>(
    database.url,
    `select pid from pg_stat_activity where datname = current_database() and query like 'fetch %' and state = 'idle in transaction'`,
  );
const untilNoneRuns = () => eventually(async () => expect(await running()).toEqual([]));

it('a client that leaves ends the export at the server', async () => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  socket.write(REQUEST);
  await once(socket, 'data');
  socket.pause();
  await eventually(async () => expect(await running()).toHaveLength(1));
  socket.destroy();
  await untilNoneRuns();
});

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
