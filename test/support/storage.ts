import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type * as Nest from '@nestjs/common';
import type * as TypeOrm from 'typeorm';
import type * as DatabaseFiles from '../../src/database/index.js';
import type * as Setup from '../../src/database/setup/index.js';
import type * as ExportFiles from '../../src/export/index.js';
import type * as FeedFiles from '../../src/feed/index.js';
import type * as Positions from '../../src/feed/infrastructure/keep-time-log-positions.js';
import type * as TotalsFiles from '../../src/totals/index.js';
import type * as TimeLogFiles from '../../src/time-log/index.js';
import type * as AttributeFiles from '../../src/attributes/schema-attributes.js';
import type * as Ids from '../../src/time-log/infrastructure/uuid-v7-time-log-ids.js';
import { eventually } from './eventually.js';
import * as service from './compiled.js';
import { createMigratedDatabase, type TestDatabase } from './test-database.js';

/* Parts of the compiled service for tests of the storage, in addition to compiled.ts, and databases for it. */

const compiled = (path: string) => importOnce(join(import.meta.dirname, '..', '..', 'dist', 'src', path));
const from = {
  database: (await compiled('database/index.js')) as typeof DatabaseFiles,
  feed: (await compiled('feed/index.js')) as typeof FeedFiles,
  ids: (await compiled('time-log/infrastructure/uuid-v7-time-log-ids.js')) as typeof Ids,
  positions: (await compiled('feed/infrastructure/keep-time-log-positions.js')) as typeof Positions,
  setup: (await compiled('database/setup/index.js')) as typeof Setup,
  attributes: (await compiled('attributes/schema-attributes.js')) as typeof AttributeFiles,
  timeLog: (await compiled('time-log/index.js')) as typeof TimeLogFiles,
  totals: (await compiled('totals/index.js')) as typeof TotalsFiles,
  export: (await compiled('export/index.js')) as typeof ExportFiles,
};

export const { Logger } = (await importOnce('@nestjs/common')) as typeof Nest;
// Tests make outages on purpose.
Logger.overrideLogger(false);
export const { DataSource, entities, migrate, migrations, plainOptions, timeLogMigrations } = service;
export type DataSource = TypeOrm.DataSource;
export const { limits } = service.loadConfig({}, false);
/** For what must not be refused because the machine is busy: limits of the service, and of its queue of writes. */
export const longLimits = { ...limits, deadline: 10 * limits.deadline };
export const LONG_QUEUE_LIMITS = { queue: limits.writeQueue, wait: longLimits.deadline };
export const { Database, isRowError, PreparedStatement, TextStatement } = from.database;
export type Database = DatabaseFiles.Database;
export const { connectionOptions } = from.setup;
export const { ALL_PROJECTS, OldTimeLogs, PageRequest, Period, TimeLog, TimeLogCounts } = from.timeLog;
export const { entityTagOf, TimeLogService, timeLogEntities, TypeOrmTimeLogRepository } = from.timeLog;
export const { TypeOrmTotalsRepository } = from.totals;
export const { TypeOrmExportRepository } = from.export;
export const { keepTimeLogPositions } = from.positions;
export const { FeedService, parseEventId, TimeLogDeletions, TypeOrmFeedRepository } = from.feed;
export const { SchemaAttributes } = from.attributes;
export type SchemaAttributes = AttributeFiles.SchemaAttributes;
export type TimeLog = TimeLogFiles.TimeLog;
export type PageRequest = TimeLogFiles.PageRequest;
export type TimeLogCounts = TimeLogFiles.TimeLogCounts;
export type TimeLogService = TimeLogFiles.TimeLogService;
export type TypeOrmTimeLogRepository = TimeLogFiles.TypeOrmTimeLogRepository;
export type TypeOrmTotalsRepository = TotalsFiles.TypeOrmTotalsRepository;
export type TypeOrmExportRepository = ExportFiles.TypeOrmExportRepository;
export type TypeOrmFeedRepository = FeedFiles.TypeOrmFeedRepository;
export const newIds = () => new from.ids.UuidV7TimeLogIds();

type Options = Partial<ReturnType<typeof plainOptions>>;
type QueryRunner = TypeOrm.QueryRunner;
type Isolation = Parameters<QueryRunner['startTransaction']>[0];

/** A database that has run all migrations, and what is connected to it. */
export class UsedDatabase {
  /** As commands connect. */
  dataSource!: DataSource;
  repository!: TypeOrmTimeLogRepository;
  totals!: TypeOrmTotalsRepository;
  feed!: TypeOrmFeedRepository;
  private database!: TestDatabase;
  private isDropped = false;
  private opened: DataSource[] = [];
  private readonly sessions: QueryRunner[] = [];

  async begin(options: Options = {}): Promise<void> {
    this.database = await createMigratedDatabase();
    this.opened = [];
    this.dataSource = await this.open(options);
    this.repository = new TypeOrmTimeLogRepository(new Database(this.dataSource), LONG_QUEUE_LIMITS);
    this.totals = new TypeOrmTotalsRepository(this.repository);
    this.feed = new TypeOrmFeedRepository(this.repository);
  }

  async end(): Promise<void> {
    await Promise.all(this.opened.map((dataSource) => dataSource.destroy()));
    if (!this.isDropped) await this.database.drop();
  }

  /** Drops the database under its connections. */
  async drop(): Promise<void> {
    this.isDropped = true;
    await this.database.drop();
  }

  get url(): string {
    return this.database.url;
  }

  get superuserUrl(): string {
    return this.database.superuserUrl;
  }

  get name(): string {
    return this.database.name;
  }

  /** Connects as commands do, but for these options; as the service with those of `connectionOptions`. */
  async open(options: Options = {}): Promise<DataSource> {
    const plain = { ...plainOptions(this.url), entities: timeLogEntities };
    const dataSource = await new DataSource({ ...plain, ...options }).initialize();
    this.opened.push(dataSource);
    return dataSource;
  }

  /** Begins a transaction in a session of its own, which is rolled back after the test unless it has ended. */
  async transaction(isolation: Isolation = 'READ COMMITTED', source = this.dataSource): Promise<QueryRunner> {
    const runner = source.createQueryRunner();
    this.sessions.push(runner);
    await runner.startTransaction(isolation);
    return runner;
  }

  async endTransactions(): Promise<void> {
    for (const runner of this.sessions.splice(0)) {
      if (runner.isTransactionActive && !runner.isReleased) await runner.rollbackTransaction();
      await runner.release();
    }
  }
}

/** Makes a database before the tests of a file or a `describe` block, and drops it after them; or for each test. */
export function useDatabase(options?: Options, [before, after] = [beforeAll, afterAll]): UsedDatabase {
  const database = new UsedDatabase();
  before(() => database.begin(options));
  afterEach(() => database.endTransactions());
  after(() => database.end());
  return database;
}

/** Resolves when a number of sessions wait for a lock. Not for a session in a transaction: its snapshot stays. */
export function untilWaiting(dataSource: DataSource, sessions = 1): Promise<number> {
  return eventually(async () => {
    const waiting = await dataSource.query<unknown[]>(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting.length < sessions)
      throw new Error(`${waiting.length} of ${sessions} sessions wait for a lock`);
    return waiting.length;
  });
}

/** Repeats acts, each one after the other, until the work has ended. */
export async function whileRepeating<T>(
  acts: readonly (() => Promise<unknown>)[],
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const repeat = async (act: () => Promise<unknown>) => {
    do await act();
    while (!isOver);
  };
  const others = Promise.allSettled(acts.map(repeat));
  const outcome = await work().finally(() => (isOver = true));
  for (const other of await others) if (other.status === 'rejected') throw other.reason;
  return outcome;
}
