import { afterAll, beforeAll, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { AccessTokenService } from '../../src/access-token/index.js';
import { scopes } from '../../src/app.module.js';
import type { Config } from '../../src/process/config.js';
import { configOf, type ServiceHere, startWith } from './service-here.js';
import { createMigratedDatabase, query, serverOfWorker } from './test-database.js';

/** The globals of test-environment.mjs for test files. */
declare global {
  /** The global object of the service. */
  var serviceGlobal: typeof globalThis;
}

/** The service in the process of the test, on a database of its own, and what looks into it. */
export interface TestApp extends ServiceHere {
  /** Good for everything. */
  readonly token: string;
  /** Makes and revokes access tokens. */
  readonly tokens: AccessTokenService;
  readonly dataSource: DataSource;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/**
 * Starts the service before the tests of a file or a `describe` block, and closes it after them. `beforeAll` sets the
 * members of the result. A configuration that an earlier `beforeAll` makes is given as a function.
 */
export function useTestApp(config: Partial<Config> | (() => Partial<Config>) = {}): TestApp {
  const app = {} as TestApp;
  beforeAll(async () => {
    Object.assign(app, await startTestApp(typeof config === 'function' ? config() : config));
  });
  afterAll(() => app.close());
  return app;
}

export async function startTestApp(config: Partial<Config> = {}): Promise<TestApp> {
  const database = await createMigratedDatabase();
  const service = await startWith({ ...configOf({ DATABASE_URL: database.url }), ...config });
  const tokens = service.app.get(AccessTokenService);
  const { token } = await tokens.create({ name: 'test', scopes });
  return {
    ...service,
    token,
    tokens,
    dataSource: service.app.get(DataSource),
    databaseUrl: database.url,
    close: async () => {
      await service.end();
      await database.drop();
    },
  };
}

/** Takes the database of an app away while something is done, and brings it back whatever happens. */
export type Outage = (app: TestApp, during: () => Promise<void>) => Promise<void>;

/** The database refuses connections. */
export const closedDatabase: Outage = async (app, during) => {
  const name = databaseOf(app);
  await close(name);
  await during().finally(() => query(serverOfWorker(), `alter database ${name} allow_connections true`));
};

/** There is no database of this name. */
export const missingDatabase: Outage = async (app, during) => {
  const name = databaseOf(app);
  await close(name);
  await query(serverOfWorker(), `alter database ${name} rename to ${name}_away`);
  await during().finally(() =>
    query(
      serverOfWorker(),
      `alter database ${name}_away rename to ${name}`,
      `alter database ${name} allow_connections true`,
    ),
  );
};

/** Ends all connections to a database and lets nobody in. */
function close(name: string): Promise<void> {
  return query(
    serverOfWorker(),
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  );
}

function databaseOf({ databaseUrl }: TestApp): string {
  return /\/(test_[0-9a-f]+)/.exec(databaseUrl)![1]!;
}

/** A statement, as text or as the driver takes one that is prepared. */
type Sql = string | { readonly text: string };
interface Client {
  query(sql: Sql, ...more: unknown[]): Promise<unknown>;
}

/** Stands around every statement that a DataSource runs, until the returned function is called. */
export function aroundStatements(
  dataSource: DataSource,
  around: (sql: string, run: () => Promise<unknown>) => Promise<unknown>,
): () => void {
  const driver = dataSource.driver as PostgresDriver;
  const obtain = driver.obtainMasterConnection.bind(driver);
  driver.obtainMasterConnection = async () => {
    const [client, release] = (await obtain()) as [Client, (error?: unknown) => void];
    const query = client.query.bind(client);
    client.query = (sql, ...more) =>
      around(typeof sql === 'string' ? sql : sql.text, () => query(sql, ...more));
    const releasePlain = (error?: unknown) => {
      Reflect.deleteProperty(client, 'query');
      release(error);
    };
    return [client, releasePlain];
  };
  return () => {
    driver.obtainMasterConnection = obtain;
  };
}

/** Returns the statements that the service runs while something is done. */
export async function statementsDuring(
  { dataSource }: Pick<TestApp, 'dataSource'>,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const statements: string[] = [];
  const unwatch = aroundStatements(dataSource, (sql, run) => {
    statements.push(sql);
    return run();
  });
  await work().finally(unwatch);
  return statements;
}

/**
 * Moves the clocks of the service from the first test of a file to its last. Only `advance` moves the time of day;
 * `performance.now` runs too.
 */
export function useClock(): { advance: (milliseconds: number) => void } {
  const { Date: ServiceDate, performance } = serviceGlobal;
  let ahead = 0;
  beforeAll(() => {
    const [begun, elapsed] = [ServiceDate.now(), performance.now.bind(performance)];
    jest.spyOn(ServiceDate, 'now').mockImplementation(() => begun + ahead);
    jest.spyOn(performance, 'now').mockImplementation(() => elapsed() + ahead);
  });
  afterAll(() => {
    jest.restoreAllMocks();
  });
  return {
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
  };
}
