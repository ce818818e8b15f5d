import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { EdgeAdapter } from '../../libs/http-edge/src/index.js';
import { AccessTokenService } from '../../src/access-token/index.js';
import { AppModule, type AppOptions, scopes } from '../../src/app.module.js';
import { loadConfig } from '../../src/config.js';
import { createMigratedDatabase } from './test-database.js';

/** The service as main.ts boots it, on a database of its own, listening on loopback. */
export interface TestApp {
  /** Such as `http://127.0.0.1:49152`. */
  readonly url: string;
  readonly port: number;
  /** Good for everything. */
  readonly token: string;
  readonly app: NestExpressApplication;
  readonly dataSource: DataSource;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/** The defaults. Only who waits for the database waits ten times as long: the test itself works in the same process. */
function patientConfig(): AppOptions['config'] {
  const config = loadConfig({}, false);
  return { ...config, limits: { ...config.limits, deadline: 10 * config.limits.deadline } };
}

export async function startTestApp(
  config: Partial<AppOptions['config']> = {},
  /** Leads the app's connections elsewhere, such as through a proxy. */
  reroute: (databaseUrl: string) => string = (url) => url,
): Promise<TestApp> {
  const all = { ...patientConfig(), ...config };
  const database = await createMigratedDatabase();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot({
      config: all,
      databaseUrl: reroute(database.url),
      migrationUrl: database.url,
    }),
    new EdgeAdapter(all.limits.headersLimit),
    { bodyParser: false, abortOnError: false, logger: false },
  );
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const { token } = await app
    .get(AccessTokenService)
    .create({ name: 'test', scopes: scopes.map(({ name }) => name) });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    token,
    app,
    dataSource: app.get(DataSource),
    databaseUrl: database.url,
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}
