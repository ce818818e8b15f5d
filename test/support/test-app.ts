import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
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
import { createMigratedDatabase } from './test-database.js';

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
