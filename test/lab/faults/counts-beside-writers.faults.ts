import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { migrations } from '../../../src/app.module.js';
import { migrate, plainOptions } from '../../../src/database/setup/index.js';
import { runText } from '../../../src/time-log/infrastructure/schema/schema.js';
import { TEXTS } from '../../../src/time-log/infrastructure/schema/texts.js';
import { timesOf } from '../../support/extent.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../eventually.js';
import { CountTraffic } from './support/count-traffic.js';
import { useCluster } from './support/use-cluster.js';

const COMPARISONS = timesOf(12_000, 600);
/** Answers within which a reader with a fault must be seen to be wrong. */
const MOST = 60_000;
/** Folds go on although snapshots are held: else the few logs here would wait for their end. */
const HELD = ['fold', '< 8192', '< 200'] as const;

type Replacement = readonly [file: string, from: string, to: string];

describe('sums and pages beside writers and folds', () => {
  const postgres = useCluster({
    max_prepared_transactions: '20',
    fsync: 'off',
    deadlock_timeout: '50ms',
    // The rows of a UNION ALL come in the order in which it is written.
    max_parallel_workers_per_gather: '0',
    max_standby_streaming_delay: '-1',
  });

  /** Makes a database whose functions are those of these texts. */
  const create = async (...replacements: readonly Replacement[]) => {
    const url = await postgres.createDatabase();
    await migrate({ url, migrations });
    const dataSource = await new DataSource(plainOptions(url)).initialize();
    const runner = dataSource.createQueryRunner();
    const texts = { ...TEXTS };
    try {
      for (const [file, from, to] of [HELD, ...replacements]) {
        expect(texts[file]).toContain(from);
        texts[file] = texts[file]!.replace(from, to);
        await runText(runner, texts[file]);
      }
    } finally {
      await runner.release();
      await dataSource.destroy();
    }
    return url;
  };

  const expectFolded = async (url: string) => {
    const fold = async () => {
      const [row] = await queryOnce<{ folded: number }>(url, 'select fold_time_log_counts(8192) as folded');
      return row!.folded;
    };
    while ((await fold()) > 0);
    expect(await queryOnce(url, 'select * from time_log_count_faults()')).toEqual([]);
    expect(await queryOnce(url, 'select from time_log_changes')).toEqual([]);
    expect(await queryOnce(url, 'select from time_log_months where part > 0')).toEqual([]);
  };

  it('are those of the logs of the same snapshot', async () => {
    const url = await create();
    const traffic = new CountTraffic(url);
    await traffic.run(COMPARISONS);
    process.stderr.write(`counts: ${traffic.compared} answers compared beside ${traffic.folds} folds\n`);
    expect(traffic.differences).toEqual([]);
    expect(traffic.folds).toBeGreaterThan(0);
    await expectFolded(url);
  });

  it('are those of the logs on a standby', async () => {
    const url = await create();
    const standby = await postgres.createStandby();
    try {
      await eventually(() => queryOnce(standby.on(url), 'select from time_log_changes'));
      const traffic = new CountTraffic(url, standby.on(url));
      await traffic.run(COMPARISONS / 5);
      process.stderr.write(`counts: ${traffic.compared} answers compared on a standby\n`);
      expect(traffic.differences).toEqual([]);
      expect(traffic.folds).toBeGreaterThan(0);
    } finally {
      await standby.remove();
    }
  });

  const DELETED = `delete from {{time_log_changes}} change using next where change.xid = next.xid and change.id = next.id
    returning change.sign, change.projects, change.days, change.durations`;
  it.each<[what: string, ...Replacement]>([
    ['a fold forgets a change', 'fold', 'from taken, unnest', 'from (table taken offset 1) taken, unnest'],
    [
      'a fold leaves what it has added',
      'fold',
      DELETED,
      'select sign, projects, days, durations from {{time_log_changes}} join next using (xid, id)',
    ],
    [
      'a reader ignores transactions that the last fold did not see',
      'fold',
      'array_append(fold.in_progress,',
      `array_append('{}'::bigint[],`,
    ],
    [
      'a reader ignores its own changes',
      'fold',
      'case when snapshot.xid >= snapshot.next_xid then snapshot.xid end',
      'null::bigint',
    ],
  ])('are seen to be wrong if %s', async (_what, ...replacement) => {
    const traffic = new CountTraffic(await create(replacement));
    await traffic.run(MOST);
    process.stderr.write(`counts: ${replacement[2]}: seen after ${traffic.compared} answers\n`);
    expect(traffic.differences).not.toEqual([]);
  });
});
