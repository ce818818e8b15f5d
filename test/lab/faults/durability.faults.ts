import { beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Durability } from '../../../src/database/index.js';
import { plainOptions } from '../../../src/database/setup/index.js';
import { eventually } from '../eventually.js';
import { ask, expectUnavailable } from './support/ask.js';
import { serve } from './support/serve.js';
import { useCluster } from './support/use-cluster.js';

const LOG = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1.5, date: '2026-01-31' });
const OWN_DISK = "a commit waits for the database's own disk";
const ALONE = 'and for no standby: a log may be lost with that disk';

describe('what a commit waits for', () => {
  const postgres = useCluster();
  let url: string;
  beforeAll(async () => void (url = await postgres.createDatabase()));

  const withSettings = async (settings: Record<string, string>, act: () => Promise<void>) => {
    await postgres.configure(settings);
    await eventually(async () => {
      for (const [name, value] of Object.entries(settings))
        expect(await postgres.query('select current_setting($1) as is', [name])).toEqual([{ is: value }]);
    });
    try {
      await act();
    } finally {
      await postgres.configure(Object.fromEntries(Object.keys(settings).map((name) => [name, null])));
    }
  };
  const told = async () => {
    const dataSource = await new DataSource(plainOptions(url)).initialize();
    const lines: string[][] = [];
    const at = (level: string) => (line: string) => lines.push([level, line]);
    const logger = { debug: at('debug'), log: at('info'), warn: at('warn') };
    await new Durability(dataSource, 'log', logger).check();
    await dataSource.destroy();
    return lines;
  };

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
  ])('is said in one line: %j', async (settings, level, message) => {
    await withSettings(settings, async () => expect(await told()).toEqual([[level, message]]));
  });

  it('is the disk of the standby for a create, even where the role is told to wait for less later', async () => {
    const service = await serve(url);
    expect(service.output().split('a commit waits for')).toHaveLength(2);
    const create = () => ask(`${service.url}/api/v1/time-logs`, { body: LOG });
    expect(await create()).toMatchObject({ status: 201 });
    for (const mode of ['off', 'local', 'remote_write'])
      await withSettings({ synchronous_commit: mode, synchronous_standby_names: 'nobody' }, async () =>
        expectUnavailable(await create()),
      );
  });
});
