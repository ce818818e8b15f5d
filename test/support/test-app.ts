import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, jest } from '@jest/globals';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DataSource } from 'typeorm';
import type { AccessTokenService } from '../../src/access-token/index.js';
import type { AppOptions } from '../../src/app.module.js';
import {
  AccessTokenService as Tokens,
  AppModule,
  DataSource as Source,
  EdgeAdapter,
  loadConfig,
  NestFactory,
  scopes,
} from './compiled.js';
import { createMigratedDatabase, query, serverOfWorker } from './test-database.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

/** The settings that differ from the defaults. */
type Settings = Partial<AppOptions['config']>;

/** The service as main.ts boots it, on a database of its own, listening on loopback. */
export interface TestApp {
  /** Such as `http://127.0.0.1:49152`. */
  readonly url: string;
  readonly port: number;
  /** Good for everything. */
  readonly token: string;
  readonly app: NestExpressApplication;
  /** Makes and revokes access tokens. */
  readonly tokens: AccessTokenService;
  readonly dataSource: DataSource;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/** The defaults. Only who waits for the database waits ten times as long: the test itself works in the same process. */
function patientConfig(): AppOptions['config'] {
  const config = loadConfig({}, false);
  return { ...config, limits: { ...config.limits, deadline: 10 * config.limits.deadline } };
}

/**
 * Starts the service before the tests of a file or a `describe` block, and closes it after them. `beforeAll` sets the
 * members of the result. A configuration that an earlier `beforeAll` makes is given as a function.
 */
export function useTestApp(config: Settings | (() => Settings) = {}): TestApp {
  const app = {} as TestApp;
  beforeAll(async () => {
    Object.assign(app, await startTestApp(typeof config === 'function' ? config() : config));
  });
  afterAll(() => app.close());
  return app;
}

export async function startTestApp(
  config: Settings = {},
  /** Leads the app's connections elsewhere, such as through a proxy. */
  reroute: (databaseUrl: string) => string = (url) => url,
): Promise<TestApp> {
  const all = { ...patientConfig(), ...config };
  const database = await createMigratedDatabase();
  const app = await NestFactory.create<NestExpressApplication>(
    await AppModule.forRoot({
      config: all,
      databaseUrl: reroute(database.url),
      migrationUrl: database.url,
    }),
    new EdgeAdapter(all.limits),
    { bodyParser: false, abortOnError: false, logger: false },
  );
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const tokens = app.get(Tokens);
  const { token } = await tokens.create({ name: 'test', scopes });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    token,
    app,
    tokens,
    dataSource: app.get(Source),
    databaseUrl: database.url,
    close: async () => {
      await app.close();
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
