import { afterAll, beforeAll } from '@jest/globals';
import {
  connectionOptions,
  Database,
  type DataSource,
  LONG_QUEUE_LIMITS,
  longLimits,
  type SchemaAttributes,
  timeLogEntities,
  TypeOrmExportRepository,
  TypeOrmFeedRepository,
  TypeOrmTimeLogRepository,
  TypeOrmTotalsRepository,
  useDatabase,
} from '../support/storage.js';

/** A repository, and the totals, feed and exports of its logs. */
export interface Store {
  readonly dataSource: DataSource;
  readonly repository: TypeOrmTimeLogRepository;
  readonly totals: TypeOrmTotalsRepository;
  readonly feed: TypeOrmFeedRepository;
  readonly exports: TypeOrmExportRepository;
}

/**
 * Makes a repository over a database of its own, as the service connects but with more time, before the tests of a file
 * or a `describe` block, or for each test.
 */
export function useRepository(attributes?: SchemaAttributes, [before, after] = [beforeAll, afterAll]): Store {
  const database = useDatabase(undefined, [before, after]);
  const store = {} as Store;
  before(async () => {
    const dataSource = await database.open(connectionOptions(database.url, timeLogEntities, longLimits));
    const repository = new TypeOrmTimeLogRepository(new Database(dataSource), LONG_QUEUE_LIMITS, attributes);
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
