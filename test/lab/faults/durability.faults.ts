import { afterEach, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Durability } from '../../../src/database/index.js';
import { plainOptions } from '../../../src/database/setup/index.js';
import { eventually } from '../eventually.js';
import { useCluster } from './support/use-cluster.js';

const OWN_DISK = "a commit waits for the database's own disk";
const ALONE = 'and for no standby: a log may be lost with that disk';

const postgres = useCluster();
afterEach(() => postgres.query('alter system reset all'));

it.each([
  [{}, 'info', `${OWN_DISK}, ${ALONE}`],
  [{ synchronous_commit: 'off' }, 'info', `${OWN_DISK}, ${ALONE}`],
  [
    { synchronous_commit: 'local', synchronous_standby_names: 'one' },
    'info',
    `${OWN_DISK} and the disk of synchronous standbys: one`,
  ],
  [
    { synchronous_commit: 'remote_apply', synchronous_standby_names: 'ANY 1 (one, two)' },
    'info',
    `${OWN_DISK} and the replay of synchronous standbys: ANY 1 (one, two)`,
  ],
  [
    { fsync: 'off' },
    'warn',
    'a commit waits for no disk, since fsync is off: a crash of the database loses logs',
  ],
])('what a commit waits for is logged in one line: %j', async (settings, level, message) => {
  await postgres.configure(settings);
  const dataSource = await new DataSource(plainOptions(postgres.url)).initialize();
  await eventually(async () => {
    for (const [name, value] of Object.entries(settings))
      expect(await dataSource.query('select current_setting($1) as is', [name])).toEqual([{ is: value }]);
  });
  const lines: string[][] = [];
  const at = (level: string) => (line: string) => lines.push([level, line]);
  await new Durability(dataSource, 'log', { debug: at('debug'), log: at('info'), warn: at('warn') }).check();
  await dataSource.destroy();
  expect(lines).toEqual([[level, message]]);
});
