import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../libs/errors/src/index.js';
import { ALL_PROJECTS } from '../../../src/time-log/domain/project-access.js';
import { migrations } from '../../../src/app.module.js';
import { Database } from '../../../src/database/index.js';
import { migrate } from '../../../src/database/setup/index.js';
import { TypeOrmExportRepository } from '../../../src/export/index.js';
import { TimeLogDeletions, TypeOrmFeedRepository } from '../../../src/feed/index.js';
import { OldTimeLogs, TimeLog } from '../../../src/time-log/index.js';
import { normalizedValues } from '../../../src/time-log/domain/time-log.js';
import { runText } from '../../../src/time-log/infrastructure/schema/schema.js';
import { TEXTS } from '../../../src/time-log/infrastructure/schema/texts.js';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';
import { WAIT_LIMIT } from '../eventually.js';
import { timesOf } from '../../support/extent.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { Copy, ExportedCopy, ROWS } from './copies.js';
import { closeInstances, type Instance, newLog, openInstances } from '../../support/feed-traffic.js';
import { acrossMove, CHANGES, overtaken, PROJECTS, transact } from './sql-writers.js';
import { createMigratedDatabase, type TestDatabase } from '../../support/test-database.js';

const ROUNDS = timesOf(100, 4);
/** The rounds within which a feed with a fault must be seen to be wrong. Each finds every one of these faults. */
const MOST = 3;
/** Writers at a time, and transactions of each in a round. */
const WRITERS = 4;
const TRANSACTIONS = 4;

/**
 * A standby cuts a statement off where the primary's changes cannot wait for it, such as for a deadlock with a move:
 * that is 503, and whoever follows asks again.
 */
function askedAgain({ feed }: Pick<Instance, 'feed'>): Pick<Instance, 'feed'> {
  const again =
    <Page extends unknown[], T>(read: (...page: Page) => Promise<T>) =>
    async (...page: Page): Promise<T> => {
      for (let left = 5; ; left--) {
        try {
          return await read(...page);
        } catch (error) {
          if (left === 0 || !(error instanceof DomainError) || error.code !== 'SERVICE_UNAVAILABLE')
            throw error;
        }
      }
    };
  const eventsAfter = again(feed.eventsAfter.bind(feed));
  const eventsOfProjects = again(feed.eventsOfProjects.bind(feed));
  return { feed: Object.assign(Object.create(feed) as typeof feed, { eventsAfter, eventsOfProjects }) };
}

describe('whoever applies the events of the feed', () => {
  let database: TestDatabase;
  let instances: Instance[];
  let canPrepare: boolean;
  let told: Map<string, string>;
  let copies: Copy[];
  let copiesOfProjects: Copy[];

  beforeAll(async () => {
    database = await createMigratedDatabase();
    instances = await openInstances(database.url);
    const [row] = await sql().query<[{ most: string }]>(
      `select current_setting('max_prepared_transactions') as most`,
    );
    canPrepare = row.most !== '0';
  });
  beforeEach(async () => {
    told = new Map();
    await sql().query('truncate time_logs');
    copies = [1, 3, 10, 1000].map((limit, index) => new Copy(instances[index % 2]!, limit, told));
    copiesOfProjects = ofProjects(instances);
  });
  afterAll(async () => {
    await closeInstances(instances);
    await database.drop();
  });

  /** Copies of one project and of two, which look at few logs of others at a time. */
  const ofProjects = (sources: readonly Instance[]) =>
    PROJECTS.flatMap((project, index) => [[project], [project, PROJECTS[(index + 1) % 3]!]]).map(
      (projects, index) => {
        const { repository } = sources[index % sources.length]!;
        const feed = new TypeOrmFeedRepository(repository, [2, 5, 10_000][index % 3]);
        return new Copy(askedAgain({ feed }), [1, 4, 1000][index % 3]!, told, projects);
      },
    );
  const rowsOf = (rows: Record<string, string>, { projects }: Copy) =>
    Object.fromEntries(
      Object.entries(rows).filter(([, row]) => projects?.includes(row.slice(0, 36)) ?? true),
    );
  const sql = () => instances[0]!.dataSource;
  const table = async () =>
    Object.fromEntries(
      (await sql().query<{ id: string; row: string }[]>(ROWS)).map(({ id, row }) => [id, row]),
    );

  /**
   * Nobody writes, and nothing holds the feed back for long: it tells all, without another transaction. Whoever
   * analyses tables in the background may hold it back for a moment.
   */
  const expectRight = (patience: number) => eventually(seeThatAllIsRight, patience);
  async function seeThatAllIsRight(): Promise<void> {
    const rows = await table();
    for (const copy of [...copies, ...copiesOfProjects]) {
      await copy.readOn();
      expect(copy.rows).toEqual(rowsOf(rows, copy));
    }
    const fresh = new Copy(instances[1]!, 7, told);
    const events = await fresh.readOn();
    expect(fresh.rows).toEqual(rows);
    const logs = events.filter(({ type }) => type !== 'deleted').map(({ log }) => log.id);
    expect(logs.toSorted()).toEqual(Object.keys(rows));
    const kept = await sql().query<{ id: string }[]>(
      `select position || '-' || id as id from time_log_deletions kept
        where project_id is not null and (position, id) not in (select position, id from time_logs)
          and not exists (select from time_log_deletions mark
                           where mark.project_id is null and (mark.position, mark.id) > (kept.position, kept.id))
        order by position, id`,
    );
    expect(events.filter(({ type }) => type === 'deleted').map(({ id }) => id)).toEqual(
      kept.map(({ id }) => id),
    );
  }

  /** What the service does to logs, at the wish of its callers. */
  async function serve({ repository }: Instance): Promise<void> {
    for (let left = 2 * TRANSACTIONS; left > 0; left--) {
      const log = newLog();
      if (left % 2 === 0) await repository.add(log);
      else await repository.addOnce(log, { caller: 'writer', text: log.id });
      await repository.correct(
        TimeLog.restore({ ...normalizedValues(log), id: log.id, duration: left }),
        ALL_PROJECTS,
      );
      if (left % 3 === 0) await repository.delete(log.id, ALL_PROJECTS);
    }
  }

  /**
   * Each kind of change at least once, with reads in between; then many at a time, while the followers read and stop.
   */
  async function round(patience = WAIT_LIMIT, beside?: () => Promise<unknown>): Promise<void> {
    const readAll = () => Promise.all([...copies, ...copiesOfProjects].map((copy) => copy.readOn()));
    // Enough that each change finds some.
    for (let left = 10; left > 0; left--)
      await sql().transaction(({ queryRunner }) => CHANGES.insert!(queryRunner!));
    await readAll();
    for (const change of Object.values(CHANGES)) {
      await sql().transaction(({ queryRunner }) => change(queryRunner!));
      await readAll();
    }
    // No number of a part follows that of this transaction. What is wrong here may be right again after more changes.
    await sql().transaction(({ queryRunner }) => CHANGES.insert!(queryRunner!));
    await expectRight(patience);
    await overtaken(sql(), readAll);
    for (const isolation of ['repeatable read', 'serializable'] as const)
      await acrossMove(sql(), isolation, readAll);
    const state = { isWriting: true };
    const writing = Promise.all(
      Array.from({ length: WRITERS }, async (_writer, index) => {
        for (let left = TRANSACTIONS; left > 0; left--)
          await transact(instances[index % 2]!.dataSource, canPrepare);
      }).concat(instances.map(serve), beside ? [beside().then(() => undefined)] : []),
    ).finally(() => (state.isWriting = false));
    const [stopped, ...reading] = copies;
    while (state.isWriting) await Promise.all([...reading, ...copiesOfProjects].map((copy) => copy.next()));
    await writing;
    copies = [...reading, stopped!];
    await expectRight(patience);
  }

  it('has the logs of the table, whatever SQL does to them, and no id tells two things', async () => {
    for (let left = ROUNDS; left > 0; left--) await round();
    expect(copies.map(({ begun }) => begun)).toEqual([0, 0, 0, 0]);
  });

  /** A copy that is filled by exports, over and over. */
  const exported = (excess?: bigint, source: Instance = instances[1]!) =>
    new ExportedCopy(askedAgain(source), 5, told, new TypeOrmExportRepository(source.repository), excess);

  it('has them also where it is filled by exports, among all changes', async () => {
    copies = [exported(), copies[1]!, exported()];
    for (let left = Math.ceil(ROUNDS / 4); left > 0; left--) await round();
    await sql().query('truncate time_logs');
    await round(WAIT_LIMIT, dropOld);
  });

  it('would see that the place of an export is one too high', async () => {
    const rounds = async () => {
      for (let left = MOST; left > 0; left--) {
        copies = [copies[1]!, exported(1n), exported(1n)];
        await round(0);
      }
    };
    await expect(rounds()).rejects.toThrow(/toEqual/);
  });

  it('has them also where deletions are forgotten, and where all logs are removed at once', async () => {
    await round();
    const away = new Copy(instances[0]!, 10, told);
    await away.next();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const forget = async () => {
      // What is right before the horizon stays.
      await sql().query('select pg_current_xact_id()');
      await sql().query('select pg_current_xact_id()');
      return new TimeLogDeletions(new Database(sql())).forget(tomorrow);
    };
    await eventually(async () => expect(await forget()).toBeGreaterThan(0));
    copies = [...copies, away];
    await expectRight(WAIT_LIMIT);
    expect(copies.map(({ begun }) => begun)).toEqual([0, 0, 0, 0, 1]);
    await round();
    await sql().query('truncate time_logs');
    await round();
    expect(copies.every(({ begun }) => begun > 0)).toBe(true);
  });

  /** Drops some logs that are of before a day then, a few at a time, until that is interrupted; then the others. */
  async function dropOld(): Promise<void> {
    const drop = (signal: AbortSignal, onProgress: (sum: number) => void) =>
      new OldTimeLogs(instances[1]!.dataSource, 3).drop('2026-01-01', { isTold: false, signal, onProgress });
    for (const batches of [1, 2, Infinity]) {
      await sql().query(
        `update time_logs set date = '2020-01-31' where id in (
           select id from time_logs where date > '1999-01-01' order by random() limit 12 for update skip locked)`,
      );
      const stop = new AbortController();
      let left = batches;
      await drop(stop.signal, () => --left === 0 && stop.abort()).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
      });
    }
  }

  it('has them also where old logs are dropped, and nobody tells it', async () => {
    await round();
    for (let left = Math.ceil(ROUNDS / 4); left > 0; left--) await round(WAIT_LIMIT, dropOld);
    expect(copies.every(({ begun }) => begun > 0)).toBe(true);
  });

  it('has them also from a standby, which is behind', async () => {
    const before = { instances, canPrepare };
    const primary = await PostgresCluster.create();
    const standby = await primary.createStandby();
    const url = await primary.createDatabase();
    const readers: Instance[] = [];
    try {
      await migrate({ url, migrations });
      instances = await openInstances(url);
      canPrepare = false;
      const there = standby.on(url);
      const arrived = () => queryOnce(there, `select 'time_log_deletions'::regclass`);
      await eventually(arrived);
      readers.push(...(await openInstances(there)));
      copies = [...instances, ...readers.map(askedAgain)].map((instance) => new Copy(instance, 5, told));
      copies.push(exported(0n, readers[0]));
      copiesOfProjects = ofProjects([...instances, ...readers]);
      for (let left = 2; left > 0; left--) await round();
    } finally {
      await closeInstances([...readers, ...(instances === before.instances ? [] : instances)]);
      ({ instances, canPrepare } = before);
      await standby.remove();
      await primary.remove();
    }
  });

  describe('would see that it is wrong', () => {
    const HORIZON = 'pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift';
    const OF_CORRECTIONS = '((pg_current_xact_id())::text)::bigint + ';
    const OF_DELETIONS = 'pg_current_xact_id()::text::bigint + ';
    const [GIVEN, STORED] = ['tg_argv[0]::bigint', '{{time_log_shift}}()'];

    /** Has the database do something else until the rounds have shown that. */
    async function isSeen(from: string, to: string): Promise<boolean> {
      const text = TEXTS.feed!;
      expect(text.split(from)).toHaveLength(2);
      const runner = sql().createQueryRunner();
      try {
        await runText(runner, text.replace(from, to));
        for (let left = MOST; left > 0; left--) await round(0);
        return false;
      } catch (error) {
        if (/toEqual|toContain|told/.test((error as Error).message)) return true;
        throw error;
      } finally {
        await runText(runner, text);
        await runner.release();
      }
    }

    it.each([
      [
        'without the trigger of corrections',
        'begin\n  new."position"',
        'begin\n  return new;\n  new."position"',
      ],
      [
        'without the trigger of deletions',
        "begin\n  if tg_op <> 'TR",
        "begin\n  return null;\n  if tg_op <> 'TR",
      ],
      ['without the trigger of changes of the id', 'ids := array[old.id]', 'return null'],
      ['without a departure of a log that moves', 'and new.id = old.id', 'and false'],
      ['with a horizon that ends with one before the last', HORIZON, `${HORIZON} - 1`],
      // The oldest transaction under way itself is not seen by anybody else.
      ['with a horizon after the oldest transaction under way', HORIZON, `${HORIZON} + 2`],
      ['with the next transaction as horizon', HORIZON, HORIZON.replace('xmin', 'xmax')],
      [
        'if the deletion won where a log is stored again at once',
        'order by place, id, deletion is not null',
        'order by place, id, deletion is null',
      ],
      ['if both were told where a log is stored again', 'select distinct on (place, id)', 'select'],
      [
        'if a deletion stayed where a log was stored again',
        'and id = old.id and project_id is not null',
        'and false',
      ],
      ['if a deletion stayed where its log left that place', 'and deletion.id = gone.id', 'and false'],
      ['if a mark that readers have passed kept deletions from being told', '>= (', '>= (-'],
      [
        'if corrections read the shift in their own snapshot',
        OF_CORRECTIONS + GIVEN,
        OF_CORRECTIONS + STORED,
      ],
      ['if deletions read the shift in their own snapshot', OF_DELETIONS + GIVEN, OF_DELETIONS + STORED],
    ])('%s', async (_what, from, to) => {
      expect(await isSeen(from, to)).toBe(true);
    });
  });
});
