import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { addRows, withSql } from '../support/backup-rows.js';
import { Database } from '../../src/database/index.js';
import { DataSource } from 'typeorm';
import { migrate, plainOptions } from '../../src/database/setup/index.js';
import { migrations } from '../../src/app.module.js';
import { parseEventId, TypeOrmFeedRepository } from '../../src/feed/index.js';
import { timeLogEntities, TypeOrmTimeLogRepository } from '../../src/time-log/index.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

type Feed = InstanceType<typeof TypeOrmFeedRepository>;

const run = promisify(execFile);
/** The programs of the server of the test run, if that is not the embedded one, which has none. */
const { TEST_POSTGRES } = process.env;
const program = (name: string) => (TEST_POSTGRES === undefined ? name : join(TEST_POSTGRES, name));
const EMBEDDED = 18;

/** pg_dump must not be older than the server. */
function describeWithPgDump(): typeof describe | typeof describe.skip {
  const said = spawnSync(program('pg_dump'), ['--version'], { encoding: 'utf8' });
  const version = said.error ? 0 : Number(/\d+/.exec(said.stdout)?.[0]);
  if (version >= (TEST_POSTGRES === undefined ? EMBEDDED : 1)) return describe;
  process.stderr.write('skipped: what needs pg_dump; there is none for this server\n');
  return describe.skip;
}

describeWithPgDump()('a dump of pg_dump', () => {
  const databases: TestDatabase[] = [];
  let source: string;
  /** The ids of all events of the source. */
  let eventIds: string[];

  const fresh = async () => {
    const database = await createTestDatabase();
    databases.push(database);
    return database.url;
  };
  /** The feed of a service that starts on a database. */
  const withFeed = async <T>(url: string, act: (feed: Feed) => Promise<T>) => {
    const options = { ...plainOptions(url), entities: timeLogEntities };
    const dataSource = await new DataSource(options).initialize();
    try {
      const repository = new TypeOrmTimeLogRepository(new Database(dataSource));
      await repository.keepPositions();
      return await act(new TypeOrmFeedRepository(repository));
    } finally {
      await dataSource.destroy();
    }
  };
  const idsIn = (feed: Feed, count: number, after?: string) =>
    eventually(async () => {
      const events = await feed.eventsAfter(after === undefined ? undefined : parseEventId(after), 1000);
      expect(events).toHaveLength(count);
      return events.map(({ id }) => id);
    });
  const dump = async (...options: string[]) => {
    const { stdout } = await run(program('pg_dump'), [...options, '--no-owner', source], {
      maxBuffer: 1e8,
    });
    return stdout;
  };
  const load = (url: string, text: string) => {
    const { status, stderr } = spawnSync(program('psql'), ['-q', '-v', 'ON_ERROR_STOP=1', url], {
      input: text,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  };

  beforeAll(async () => {
    source = await fresh();
    await migrate({ url: source, migrations });
    // Its transactions had far higher numbers, and once before it has come from another server.
    await withSql(source, async (sql) => {
      await addRows(sql, 1, 100);
      await sql.query('update time_logs set position = position + 1000000000000');
    });
    await withFeed(source, async (feed) => {
      await withSql(source, (sql) => addRows(sql, 101, 150));
      eventIds = await idsIn(feed, 150);
    });
  });
  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  it.each([
    ['whole, into an empty database', [], false],
    ['of the data alone, into a migrated one', ['--data-only', '--table=time_logs'], true],
  ])('%s: the feed goes on', async (_what, options, isMigrated) => {
    const target = await fresh();
    if (isMigrated) await migrate({ url: target, migrations });
    load(target, await dump(...options));
    await withFeed(target, async (feed) => {
      expect(await idsIn(feed, 150)).toEqual(eventIds);
      expect(await idsIn(feed, 0, eventIds.at(-1))).toEqual([]);
      await withSql(target, (sql) => addRows(sql, 151, 153));
      const later = await idsIn(feed, 3, eventIds.at(-1));
      expect(await idsIn(feed, 153)).toEqual([...eventIds, ...later]);
    });
  });
});
