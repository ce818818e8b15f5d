import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../support/commands.js';
import { useFolder } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { canMount, SmallDisk } from './support/full-disk.js';
import { useCluster } from './support/use-cluster.js';

(canMount ? describe : describe.skip)('commands on a full disk (where a disk can be mounted)', () => {
  const postgres = useCluster();
  const inFolder = useFolder('faults-full-');
  let url: string;

  beforeAll(async () => {
    url = await postgres.createDatabase();
    expect(await runCommand('migrate', [], { DATABASE_URL: url })).toMatchObject({ code: 0 });
    await queryOnce(
      url,
      `insert into time_logs (id, project_id, duration, description, date)
       select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '11111111-1111-1111-1111-111111111111',
              1, repeat('x', 200), '2020-01-31' from generate_series(1, 3000) n`,
    );
  });

  it('a backup says what to do, and leaves no part of a file', async () => {
    const place = inFolder();
    const disk = SmallDisk.mount(place, '64k');
    try {
      await disk.fill();
      const file = inFolder('file');
      expect(await runCommand('backup', [file], { DATABASE_URL: url })).toEqual({
        code: 1,
        stdout: '',
        stderr: `there is no room for ${file} (ENOSPC), and nothing was saved: free space in ${place}, or name a file on another disk\n`,
      });
      expect(await readdir(place)).toEqual(['ballast']);
    } finally {
      disk.unmount();
    }
  });

  it('drop goes on with fewer logs at a time, and says what to do if even that does not help', async () => {
    const place = join(postgres.place, 'disk');
    await mkdir(place);
    const disk = SmallDisk.mount(place, '600k', postgres.owner);
    const describeAll = (length: number) =>
      queryOnce(postgres.asSuperuser(url), `update time_logs set description = repeat('x', ${length})`);
    const full = () => postgres.logged(/No space left on device/);
    try {
      await postgres.query(`create tablespace small location '${disk.path}'`);
      await postgres.query('grant create on tablespace small to public');
      const role = new URL(url).pathname.slice(1);
      // What a statement does not keep in memory goes to the small disk.
      await postgres.query(`alter role ${role} set temp_tablespaces = small`);
      await postgres.query(`alter role ${role} set work_mem = '64kB'`);
      await disk.fill();
      const drop = () => runCommand('drop', ['2020-02-01'], { DATABASE_URL: url });
      await describeAll(1_900);
      expect(await drop()).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /No space left on device: free space on the disk of the database, and try again\n$/,
        ),
      });
      await disk.relieve();
      await describeAll(200);
      const before = full();
      expect(await drop()).toMatchObject({ code: 0, stdout: 'dropped 3000 logs\n' });
      expect(full()).toBeGreaterThan(before);
      expect(await runCommand('counts', ['verify'], { DATABASE_URL: url })).toMatchObject({ code: 0 });
    } finally {
      await postgres.end('SIGQUIT');
      disk.unmount();
    }
  });
});
