import { type DynamicModule, Logger, Module, type Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { QueryRunner } from 'typeorm';
import {
  AUTH_HEADERS,
  BearerAuthModule,
  DelegatingVerifier,
  rateLimit,
  type TokenVerifier,
} from '../libs/auth/src/index.js';
import { HttpEdgeModule, type HttpEdgeOptions } from '../libs/http-edge/src/index.js';
import { accessTokens, AccessTokenVerifier } from './access-token/index.js';
import { apiDocs } from './api-docs/index.js';
import type { Config } from './process/config.js';
import { Database, DatabaseModule } from './database/index.js';
import { connectionOptions, Durability, migrate, openDataSource } from './database/setup/index.js';
import { health } from './health/index.js';
import { metrics } from './metrics/index.js';
import { timeLogs } from './time-log/composition.js';
import { TimeLogRepository } from './time-log/index.js';
import { PACKAGES } from './packages.js';
import type { ModuleSettings, Notes, ServiceModule } from './service-module.js';

/**
 * The modules of the service, one line each, in the order in which the router tries them. Everything else follows from
 * them.
 */
export const MODULES: readonly ServiceModule[] = [
  accessTokens,
  timeLogs,
  ...PACKAGES,
  health,
  apiDocs,
  metrics,
];

/** The Nest modules that the settings ask for, each over the one that it needs. */
function bindAll(settings: ModuleSettings) {
  const bound = new Map<ServiceModule, Type | DynamicModule>();
  for (const brings of MODULES) {
    const module = brings.bind(settings, brings.over ? bound.get(brings.over)! : AppModule);
    if (module) bound.set(brings, module);
  }
  return bound;
}

export const entities = MODULES.flatMap(({ entities = [] }) => entities);
export const migrations = MODULES.flatMap(({ migrations = [] }) => migrations);
export const note = async (runner: QueryRunner) => {
  const notes: Notes = {};
  for (const module of MODULES) Object.assign(notes, await module.note?.(runner));
  return notes;
};
export const afterRestore = async (runner: QueryRunner, notes: Notes) => {
  for (const module of MODULES) await module.afterRestore?.(runner, notes);
};
export const scopes = MODULES.flatMap(({ scopes = [] }) => scopes);
export const defaultScopes = scopes.filter(({ isDefault }) => isDefault).map(({ name }) => name);
export const firstScopes = scopes
  .filter(({ isDefault, isOfFirstToken }) => isDefault === true || isOfFirstToken === true)
  .map(({ name }) => name);
const headers = [AUTH_HEADERS, ...MODULES.map(({ headers = {} }) => headers)];

export interface AppOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly migrationUrl: string;
  /** The name of the setting that holds the latter. */
  readonly migrationSetting?: string;
  /** Aborts the wait for the database. */
  readonly signal?: AbortSignal;
  /** The access log of messages. */
  readonly onMessage?: ModuleSettings['onMessage'];
  /** The access log of requests. */
  readonly onClose?: HttpEdgeOptions['onClose'];
}

/** The composition root: the service as it runs by itself. */
@Module({})
export class AppModule {
  static forRoot({
    config,
    databaseUrl,
    migrationUrl,
    migrationSetting: setting,
    onMessage,
    signal,
    onClose,
  }: AppOptions): DynamicModule {
    const { limits } = config;
    // An operator knows the disk of DATA_DIR.
    const durability = new Durability(config.databaseUrl === undefined ? 'debug' : 'log');
    const bound = bindAll({ ...config, defaultScopes, onMessage });
    const routes = [...bound].flatMap(([{ prefix: path }, module]) =>
      path === undefined ? [] : [{ path, module: 'module' in module ? module.module : module }],
    );
    // The modules that verify tokens of other issuers.
    const issuers = [...bound].flatMap(([{ verifier }, module]) =>
      verifier ? [{ ...verifier, module }] : [],
    );
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({
            ...connectionOptions(databaseUrl, entities, limits),
            toRetry: () => false,
          }),
          dataSourceFactory: async (options) => {
            const done = await migrate({ url: migrationUrl, setting, migrations, signal });
            // A new database runs all of them, which is no news.
            const level = done.length === migrations.length ? 'debug' : 'log';
            if (done.length > 0) new Logger('Migrations')[level](`migrated: ${done.join(', ')}`);
            const dataSource = await openDataSource(options!);
            await durability.check((sql) => dataSource.query(sql));
            return dataSource;
          },
        }),
        BearerAuthModule.forRootAsync({
          imports: issuers.map(({ module }) => module),
          inject: [AccessTokenVerifier, ...issuers.map(({ provide }) => provide)],
          useFactory: (accessTokens: AccessTokenVerifier, ...verifiers: TokenVerifier[]) => ({
            verifier: issuers.reduce<TokenVerifier | undefined>(
              (others, { accepts }, index) =>
                others ? new DelegatingVerifier(accepts, verifiers[index]!, others) : verifiers[index],
              config.takesAccessTokens ? accessTokens : undefined,
            )!,
            realm: 'time-logs',
            ...(config.rateLimit && { admit: rateLimit(config.rateLimit) }),
          }),
        }),
        DatabaseModule,
        ...bound.values(),
        RouterModule.register(routes),
        // Must be last: its controller answers everything that no other controller does.
        HttpEdgeModule.forRoot({
          ...(config.corsOrigins.length > 0 && {
            cors: {
              origins: config.corsOrigins,
              headers: {
                accepted: headers.flatMap(({ accepted = [] }) => accepted),
                exposed: headers.flatMap(({ exposed = [] }) => exposed),
              },
            },
          }),
          shutdownDelay: config.shutdownDelay,
          limits,
          ...(onClose && { onClose }),
        }),
      ],
      providers: [
        {
          provide: Durability,
          inject: [Database, TimeLogRepository],
          useFactory: (database: Database, logs: TimeLogRepository) => {
            logs.onRecorded(() => durability.checkIfDue((sql) => database.query(sql)));
            return durability;
          },
        },
      ],
    };
  }
}
