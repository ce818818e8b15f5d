import { type DynamicModule, Logger, Module, type Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import { AUTH_HEADERS, AuthModule, rateLimit, type TokenVerifier } from '../libs/auth/src/index.js';
import { ERROR_KINDS, type ErrorKind } from '../libs/errors/src/index.js';
import { type CorsHeaders, HttpEdgeModule, type HttpEdgeOptions } from '../libs/http-edge/src/index.js';
import { ByFormVerifier, JwtModule, JwtVerifier } from '../libs/jwt/src/index.js';
import type { OnMessage } from '../libs/messages/src/index.js';
import type { TagObject } from '../libs/open-api/src/index.js';
import { accessTokens, AccessTokenVerifier } from './access-token/index.js';
import { apiDocs } from './api-docs/index.js';
import type { BackupNotes } from '../libs/backup/src/index.js';
import type { Config } from './process/config.js';
import { Database, DatabaseModule } from './database/index.js';
import { connectionOptions, Durability, migrate, openDataSource } from './database/setup/index.js';
import { eventRelay } from '../libs/event-relay/src/composition.js';
import { health } from './health/index.js';
import { metrics } from './metrics/index.js';
import { timeLogs } from './time-log/composition.js';
import { TimeLogRepository } from './time-log/index.js';
import { timeLogMessages } from './time-log/messages/composition.js';

/** What modules are bound by. */
interface Settings extends Config {
  /** The scopes of a token for which none are named. */
  readonly defaultScopes: readonly string[];
  /** The access log of messages. */
  readonly onMessage?: OnMessage | undefined;
}

/** What a module adds to the service. */
interface ServiceModule {
  /** Its Nest module, over that of `over`; undefined where the deployment has not switched it on. */
  readonly bind: (settings: Settings, over: Type | DynamicModule) => Type | DynamicModule | undefined;
  /** The module that it stands over, which comes before it. */
  readonly over?: ServiceModule;
  /** The start of its paths, such as `api/v1`. */
  readonly prefix?: string;
  /** Its entities, for the DataSource. */
  readonly entities?: Extract<DataSourceOptions['entities'], unknown[]>;
  /** The migrations that make its tables, in order. */
  readonly migrations?: readonly Type<MigrationInterface & { readonly name: string }>[];
  /** What a backup must hold of it beside its rows, as they are in the transaction of the runner. */
  readonly note?: (runner: QueryRunner) => Promise<BackupNotes>;
  /** What must follow where rows have come from another server, in the transaction of a restore. */
  readonly afterRestore?: (runner: QueryRunner, notes: BackupNotes) => Promise<void>;
  /** The scopes that a token can have, and what each allows. New tokens get the default ones unless told otherwise. */
  readonly scopes?: readonly {
    readonly name: string;
    readonly allows: string;
    readonly isDefault?: boolean;
    /** The first token of an embedded database has it too: it is for who runs the service. */
    readonly isOfFirstToken?: boolean;
  }[];
  /** The errors that only it answers with. */
  readonly errors?: readonly ErrorKind[];
  /** The names of the headers of its routes that pages of other origins may send and read. */
  readonly headers?: Partial<CorsHeaders>;
  /** The tag of its operations in the documentation. */
  readonly tags?: readonly TagObject[];
}

/**
 * The modules of the service, one line each, in the order in which the router tries them. All else follows from them.
 */
const MODULES: readonly ServiceModule[] = [
  accessTokens,
  timeLogs,
  timeLogMessages,
  eventRelay,
  health,
  apiDocs,
  metrics,
];

/** The Nest modules that the settings ask for, each over the one that it needs. */
function bindAll(settings: Settings) {
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
  const notes: BackupNotes = {};
  for (const module of MODULES) Object.assign(notes, await module.note?.(runner));
  return notes;
};
export const afterRestore = async (runner: QueryRunner, notes: BackupNotes) => {
  for (const module of MODULES) await module.afterRestore?.(runner, notes);
};
export const scopes = MODULES.flatMap(({ scopes = [] }) => scopes);
export const defaultScopes = scopes.filter(({ isDefault }) => isDefault).map(({ name }) => name);
export const firstScopes = scopes
  .filter(({ isDefault, isOfFirstToken }) => isDefault === true || isOfFirstToken === true)
  .map(({ name }) => name);
/** Every error that the service answers with, by their statuses. */
export const errors = [...Object.values(ERROR_KINDS), ...MODULES.flatMap(({ errors = [] }) => errors)].sort(
  (a, b) => a.status - b.status,
);
const headers = [AUTH_HEADERS, ...MODULES.map(({ headers = {} }) => headers)];
export const tags = MODULES.flatMap(({ tags = [] }) => tags);

export interface AppOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly migrationUrl: string;
  /** The name of the setting that holds the latter. */
  readonly migrationSetting?: string;
  /** Aborts the wait for the database. */
  readonly signal?: AbortSignal;
  /** The access log of messages. */
  readonly onMessage?: OnMessage | undefined;
  /** The access log of requests. */
  readonly onClose?: HttpEdgeOptions['onClose'];
}

/** Verifies JWTs, access tokens, or both, as the settings say. */
function verifierOf(jwts: TokenVerifier | undefined, accessTokens: TokenVerifier | undefined): TokenVerifier {
  return jwts && accessTokens ? new ByFormVerifier(jwts, accessTokens) : (jwts ?? accessTokens)!;
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
    // Nobody need be told of the disk of their own DATA_DIR.
    const durability = new Durability(config.databaseUrl === undefined ? 'debug' : 'log');
    const bound = bindAll({ ...config, defaultScopes, onMessage });
    const routes = [...bound].flatMap(([{ prefix: path }, module]) =>
      path === undefined ? [] : [{ path, module: 'module' in module ? module.module : module }],
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
            // Of a new database they are all, and tell nobody anything.
            const level = done.length === migrations.length ? 'debug' : 'log';
            if (done.length > 0) new Logger('Migrations')[level](`migrated: ${done.join(', ')}`);
            const dataSource = await openDataSource(options!);
            await durability.look((sql) => dataSource.query(sql));
            return dataSource;
          },
        }),
        AuthModule.forRootAsync({
          imports: config.jwt ? [JwtModule.forRoot({ ...config.jwt, cacheSize: limits.tokenCache })] : [],
          inject: [AccessTokenVerifier, { token: JwtVerifier, optional: true }],
          useFactory: (accessTokens: AccessTokenVerifier, jwts?: JwtVerifier) => ({
            verifier: verifierOf(jwts, config.takesAccessTokens ? accessTokens : undefined),
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
            logs.onRecorded(() => durability.lookAgain((sql) => database.query(sql)));
            return durability;
          },
        },
      ],
    };
  }
}
