import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource, type QueryRunner } from 'typeorm';
import { SchemaAttributeRules } from '../../src/attributes/schema-attribute-rules.js';
import { Database } from '../../src/database/index.js';
import { connectionOptions, plainOptions } from '../../src/database/setup/index.js';
import { TypeOrmExportRepository } from '../../src/export/index.js';
import { TypeOrmFeedRepository } from '../../src/feed/index.js';
import { loadConfig } from '../../src/process/config.js';
import { timeLogEntities, TypeOrmTimeLogRepository } from '../../src/time-log/index.js';
import { UuidV7TimeLogIds } from '../../src/time-log/infrastructure/uuid-v7-time-log-ids.js';
import { TypeOrmTotalsRepository } from '../../src/totals/index.js';
import { eventually } from './eventually.js';
import { createMigratedDatabase, type TestDatabase } from './test-database.js';

// Tests make outages on purpose.
Logger.overrideLogger(false);
export const { limits } = loadConfig({}, false);
/** For what must not be refused because the machine is busy: limits of the service, and of its queue of writes. */
const longLimits = { ...limits, deadline: 10 * limits.deadline };
export const LONG_QUEUE_LIMITS = { limits: longLimits };
export const newIds = () => new UuidV7TimeLogIds();
/** The access of a caller that is not bound. */
export const ALL_PROJECTS = {};
/** Attributes of any kind. */
export const ANY_ATTRIBUTES = new SchemaAttributeRules({
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
});
/** Returns a repository that refuses nothing because the machine is busy. */
export const repositoryOver = (
  source: DataSource,
  attributes?: SchemaAttributeRules,
  queue = LONG_QUEUE_LIMITS,
) => new TypeOrmTimeLogRepository(new Database(source), queue, attributes);

type Options = Partial<ReturnType<typeof plainOptions>>;
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
    this.repository = repositoryOver(this.dataSource);
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

  /** Connects as the service does, through this URL. */
  openAsService(
    given: Parameters<typeof connectionOptions>[2] = longLimits,
    url = this.url,
  ): Promise<DataSource> {
    return this.open(connectionOptions(url, timeLogEntities, given));
  }

  /** Connects as commands do, but for these options. */
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

/** A repository, and the totals, feed and exports of its logs. */
export interface Store {
  readonly dataSource: DataSource;
  readonly repository: TypeOrmTimeLogRepository;
  readonly totals: TypeOrmTotalsRepository;
  readonly feed: TypeOrmFeedRepository;
  readonly exports: TypeOrmExportRepository;
}

/** Makes a repository over a database of its own, as the service connects but with more time. */
export function useStore(attributes?: SchemaAttributeRules): Store {
  const database = useDatabase();
  const store = {} as Store;
  beforeAll(async () => {
    const dataSource = await database.openAsService();
    const repository = repositoryOver(dataSource, attributes);
    Object.assign(store, {
      dataSource,
      repository,
      totals: new TypeOrmTotalsRepository(repository),
      feed: new TypeOrmFeedRepository(repository),
      exports: new TypeOrmExportRepository(repository),
    });
  });
  return store;
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
