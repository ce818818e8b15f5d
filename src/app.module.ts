import { type DynamicModule, type FactoryProvider, Logger, Module, type Type } from '@nestjs/common';
import { RouterModule, type Routes } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { QueryRunner } from 'typeorm';
import {
  BearerAuthModule,
  DelegatingVerifier,
  rateLimit,
  type TokenVerifier,
} from '../libs/auth/src/index.js';
import { HttpEdgeModule, type HttpEdgeOptions } from '../libs/http-edge/src/index.js';
import { accessTokens, AccessTokenVerifier } from './access-token/index.js';
import { apiDocs } from './api-docs/index.js';
import type { Config } from './process/config.js';
import { Database, DatabaseModule, Durability } from './database/index.js';
import { connectionOptions, migrate, openDataSource } from './database/setup/index.js';
import { health } from './health/index.js';
import { metrics } from './metrics/index.js';
import { timeLogs } from './time-log/composition.js';
import { TimeLogRepository } from './time-log/index.js';
import { ATTRIBUTES, PACKAGES } from './packages.js';
import type {
  AttributesDefinition,
  BackupMetadata,
  ModuleSettings,
  ServiceModule,
} from './service-module.js';

/** The modules of the service, in the order in which the router tries them. */
export const MODULES: readonly ServiceModule[] = [
  accessTokens,
  timeLogs,
  ...PACKAGES,
  health,
  apiDocs,
  metrics,
];

/** Builds the Nest modules that the settings enable. */
function buildModules(settings: ModuleSettings) {
  const built = new Map<ServiceModule, Type | DynamicModule>();
  for (const definition of MODULES) {
    const { bind, dependsOn } = definition;
    const module = bind(settings, dependsOn ? built.get(dependsOn)! : AppModule);
    if (module) built.set(definition, module);
  }
  return built;
}

export const entities = MODULES.flatMap(({ entities = [] }) => entities);
export const migrations = MODULES.flatMap(({ migrations = [] }) => migrations);
export const backupMetadata = async (runner: QueryRunner) => {
  const metadata: BackupMetadata = {};
  for (const module of MODULES) Object.assign(metadata, await module.backupMetadata?.(runner));
  return metadata;
};
export const afterRestore = async (runner: QueryRunner, metadata: BackupMetadata) => {
  for (const module of MODULES) await module.afterRestore?.(runner, metadata);
};
export const scopes = MODULES.flatMap(({ scopes = [] }) => scopes);
export const defaultScopes = scopes.filter(({ isDefault }) => isDefault).map(({ name }) => name);
export const firstTokenScopes = scopes
  .filter(({ isDefault, isForFirstToken }) => isDefault === true || isForFirstToken === true)
  .map(({ name }) => name);

/** Reads the schema of attributes that the settings name. Throws a one-line Error. */
export async function readAttributes({
  attributesSchema: path,
  jwt,
}: Pick<Config, 'attributesSchema' | 'jwt'>): Promise<AttributesDefinition | undefined> {
  if (path === undefined) return undefined;
  if (!ATTRIBUTES) throw new Error('this build has no attributes: remove ATTRIBUTES_SCHEMA');
  const definition = await ATTRIBUTES.read(path);
  const unknown = Object.keys(jwt?.attributeClaims ?? {}).find((name) => !definition.filters.has(name));
  if (unknown === undefined) return definition;
  throw new Error(
    `AUTH_ATTRIBUTES: the schema declares no filter ${unknown}: add "x-filter": true to this property in ${path}`,
  );
}

/** Creates the missing indexes of filters and drops the others. Returns a line for each. */
export async function updateIndexes(
  attributes: AttributesDefinition | undefined,
  runner: QueryRunner,
  signal?: AbortSignal,
): Promise<string[]> {
  return (await ATTRIBUTES?.updateIndexes(runner, attributes?.filters.keys() ?? [], signal)) ?? [];
}

export interface AppOptions {
  readonly config: Config;
  /** The result of `readAttributes`. */
  readonly attributes?: AttributesDefinition | undefined;
  readonly databaseUrl: string;
  readonly migrationUrl: string;
  /** The name of the setting that holds `migrationUrl`. */
  readonly migrationSetting?: string;
  /** Stops waiting for the database when it aborts. */
  readonly signal?: AbortSignal;
  /** Called after each message, for the access log. */
  readonly onMessage?: ModuleSettings['onMessage'];
  /** Called after each request, for the access log. */
  readonly onClose?: HttpEdgeOptions['onClose'];
}

/** The composition root of the standalone service. */
@Module({})
export class AppModule {
  static forRoot(options: AppOptions): DynamicModule {
    const { config, attributes, onMessage, onClose } = options;
    const modules = buildModules({
      ...config,
      defaultScopes,
      onMessage,
      attributes: attributes && {
        ...attributes,
        providers: ATTRIBUTES!.providers(attributes),
        describe: (document) => ATTRIBUTES!.describe(document, attributes),
      },
    });
    return {
      module: AppModule,
      imports: [
        dataSourceModule(options),
        authModule(config, modules),
        DatabaseModule,
        ...modules.values(),
        RouterModule.register(routesOf(modules)),
        // Must be last: its controller matches every path that no other controller matches.
        edgeModule(config, onClose),
      ],
      providers: [durability(config)],
    };
  }
}

type BuiltModules = ReturnType<typeof buildModules>;

function dataSourceModule({
  config,
  attributes,
  databaseUrl,
  migrationUrl,
  migrationSetting: setting,
  signal,
}: AppOptions): DynamicModule {
  return TypeOrmModule.forRootAsync({
    useFactory: () => ({ ...connectionOptions(databaseUrl, entities, config.limits), toRetry: () => false }),
    dataSourceFactory: async (options) => {
      const logger = new Logger('Migrations');
      const isEmbedded = config.databaseUrl === undefined;
      const afterwards = async (runner: QueryRunner) => {
        for (const line of await updateIndexes(attributes, runner, signal)) logger.log(line);
      };
      const done = await migrate({
        url: migrationUrl,
        setting,
        migrations,
        signal,
        // On another database, a start must not change what other instances use.
        ...(isEmbedded && { afterwards }),
      });
      // A new database runs all migrations, so that is not worth a line.
      const level = done.length === migrations.length ? 'debug' : 'log';
      if (done.length > 0) logger[level](`migrated: ${done.join(', ')}`);
      return openDataSource(options!);
    },
  });
}

/** Accepts the tokens of the service, and those of other issuers that a module verifies. */
function authModule({ acceptsAccessTokens, rateLimit: limit }: Config, modules: BuiltModules): DynamicModule {
  const issuers = [...modules].flatMap(([{ verifier }, module]) =>
    verifier ? [{ ...verifier, module }] : [],
  );
  return BearerAuthModule.forRootAsync({
    imports: issuers.map(({ module }) => module),
    inject: [AccessTokenVerifier, ...issuers.map(({ provide }) => provide)],
    useFactory: (accessTokens: AccessTokenVerifier, ...verifiers: TokenVerifier[]) => ({
      verifier: issuers.reduce<TokenVerifier | undefined>(
        (others, { accepts }, index) =>
          others ? new DelegatingVerifier(accepts, verifiers[index]!, others) : verifiers[index],
        acceptsAccessTokens ? accessTokens : undefined,
      )!,
      realm: 'time-logs',
      ...(limit && { admit: rateLimit(limit) }),
    }),
  });
}

function routesOf(modules: BuiltModules): Routes {
  return [...modules].flatMap(([{ prefix: path }, module]) =>
    path === undefined ? [] : [{ path, module: 'module' in module ? module.module : module }],
  );
}

/** The request headers that pages of other origins may send. Tracing in a browser adds the last three. */
const REQUEST_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'X-Request-Id'],
  ...['baggage', 'traceparent', 'tracestate'],
];
/** The response headers that these pages may read. */
const RESPONSE_HEADERS = [
  ...['Allow', 'ETag', 'Idempotency-Replayed', 'Last-Event-ID', 'Link', 'Location', 'Retry-After'],
  ...['WWW-Authenticate', 'X-Request-Id', 'X-Total-Count'],
];

function edgeModule(config: Config, onClose: HttpEdgeOptions['onClose']): DynamicModule {
  return HttpEdgeModule.forRoot({
    ...(config.corsOrigins.length > 0 && {
      cors: {
        origins: config.corsOrigins,
        allowedHeaders: [...REQUEST_HEADERS, ...config.corsHeaders],
        exposedHeaders: RESPONSE_HEADERS,
      },
    }),
    shutdownDelay: config.shutdownDelay,
    ...(config.apiDocs && { page: 'docs' }),
    deadline: config.limits.deadline,
    ...(onClose && { onClose }),
  });
}

/** Checks that commits are safe, at the start and now and then after a log was recorded. */
function durability({ databaseUrl }: Config): FactoryProvider<Promise<Durability>> {
  return {
    provide: Durability,
    inject: [Database, TimeLogRepository],
    useFactory: async (database: Database, logs: TimeLogRepository) => {
      // An operator knows which disk holds DATA_DIR.
      const level = databaseUrl === undefined ? 'debug' : 'log';
      const checks = new Durability(database, level);
      await checks.check();
      logs.onRecorded(checks.checkIfDue);
      return checks;
    },
  };
}
