import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { anyVerifier, BearerAuthModule, type CachedVerifier, rateLimit } from '../libs/auth/src/index.js';
import { HttpEdgeModule } from '../libs/http-edge/src/index.js';
import { type AttributesDefinition, describeAttributes } from './attributes/index.js';
import { eventRelayEntities, eventRelayMigrations, EventRelayModule, sinkOf } from './event-relay/index.js';
import { TimeLogModule } from './time-log/time-log.module.js';
import {
  accessTokenEntities,
  accessTokenMigrations,
  AccessTokenModule,
  AccessTokenVerifier,
} from './access-token/index.js';
import { ApiDocsModule } from './api-docs/index.js';
import type { Config } from './process/config.js';
import { ServiceLogger } from './process/service-logger.js';
import { DatabaseModule } from './database/index.js';
import { connectionOptions, migrate, openDataSource } from './database/setup/index.js';
import { HealthModule } from './health/index.js';
import { MetricsModule, READ_METRICS } from './metrics/index.js';
import { CORRECT, READ, timeLogEntities, timeLogMigrations, WRITE } from './time-log/index.js';

/** The tables of the service. That of the relay exists even if the relay is off. */
export const entities = [...accessTokenEntities, ...timeLogEntities, ...eventRelayEntities];
/** The migrations of these tables, in the order of their modules. */
export const migrations = [...accessTokenMigrations, ...timeLogMigrations, ...eventRelayMigrations];
/** The scopes that a token can have, explained in the OpenAPI document. */
export const scopes = [READ, WRITE, CORRECT, READ_METRICS];
/** The scopes of a new token if none are specified. */
export const defaultScopes = [READ, WRITE];
/** The scopes of the first token of an embedded database, which is the operator's. */
export const firstTokenScopes = [READ, WRITE, CORRECT];

/** Reads the schema of attributes that the settings name. Throws a one-line Error. */
export async function readAttributes({
  attributesSchema: path,
  jwt,
}: Pick<Config, 'attributesSchema' | 'jwt'>): Promise<AttributesDefinition | undefined> {
  if (path === undefined) return undefined;
  const { readSchemaFile } = await import('./attributes/setup/index.js');
  const definition = readSchemaFile(path);
  const bindable = bindableAttributes(definition);
  const unknown = Object.keys(jwt?.attributeClaims ?? {}).find((name) => !bindable.has(name));
  if (unknown === undefined) return definition;
  throw new Error(
    `AUTH_ATTRIBUTES: ${path} declares no property ${unknown} of type string, number, integer or boolean: add it`,
  );
}

/** Returns the attributes to which a caller can be bound, with their types. */
export function bindableAttributes({ filters }: AttributesDefinition): AttributesDefinition['filters'] {
  return new Map([...filters].filter(([, type]) => type !== 'strings'));
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
  /** Logs each request and message. */
  readonly logger: ServiceLogger;
}

/** The composition root of the standalone service. */
@Module({})
export class AppModule {
  static async forRoot(options: AppOptions): Promise<DynamicModule> {
    const { config, attributes, logger } = options;
    const { messagesUrl, eventsUrl, eventsSecret: secret } = config;
    const timeLogs = TimeLogModule.forRoot({
      limits: config.limits,
      ...(attributes && { attributes: attributes.schema, filters: Object.fromEntries(attributes.filters) }),
    });
    return {
      module: AppModule,
      // HttpEdgeModule finds it.
      providers: [{ provide: ServiceLogger, useValue: logger }],
      imports: [
        dataSourceModule(options),
        await authModule(config),
        DatabaseModule,
        AccessTokenModule.forRoot({ ...config, defaultScopes }),
        timeLogs,
        RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
        ...(messagesUrl === undefined ? [] : [await messagesModule(timeLogs, options)]),
        ...(eventsUrl === undefined
          ? []
          : [EventRelayModule.over(timeLogs, { useFactory: () => sinkOf(eventsUrl, { secret }) })]),
        HealthModule,
        ...(config.apiDocs ? [apiDocsModule(options)] : []),
        MetricsModule,
        // Must be last: its controller matches every path that no other controller matches.
        edgeModule(config),
      ],
    };
  }
}

function dataSourceModule({
  config,
  databaseUrl,
  migrationUrl,
  migrationSetting: setting,
  signal,
}: AppOptions): DynamicModule {
  return TypeOrmModule.forRootAsync({
    useFactory: () => ({ ...connectionOptions(databaseUrl, entities, config.limits), toRetry: () => false }),
    dataSourceFactory: async (options) => {
      const logger = new Logger('Migrations');
      const done = await migrate({
        url: migrationUrl,
        setting,
        migrations,
        signal,
      });
      // A new database runs all migrations, so that is not worth a line.
      const level = done.length === migrations.length ? 'debug' : 'log';
      if (done.length > 0) logger[level](`migrated: ${done.join(', ')}`);
      return openDataSource(options!);
    },
  });
}

/** Accepts the tokens of the service, and JWTs of another issuer, whose library is loaded only then. */
async function authModule({
  acceptsAccessTokens,
  jwt,
  rateLimit: limit,
  limits,
}: Config): Promise<DynamicModule> {
  const issuer = jwt && (await import('../libs/jwt/src/index.js'));
  return BearerAuthModule.forRootAsync({
    imports: issuer ? [issuer.JwtModule.forRoot({ ...jwt, cacheSize: limits.tokenCache })] : [],
    inject: [AccessTokenVerifier, ...(issuer ? [issuer.JwtVerifier] : [])],
    useFactory: (accessTokens: AccessTokenVerifier, ...jwts: CachedVerifier[]) => ({
      ...anyVerifier([...(acceptsAccessTokens ? [accessTokens] : []), ...jwts]),
      realm: 'time-logs',
      ...(limit && { admit: rateLimit(limit) }),
    }),
  });
}

/** Handles messages. Loaded only if a broker is set, as it loads @nestjs/microservices. */
async function messagesModule(timeLogs: DynamicModule, { logger }: AppOptions): Promise<DynamicModule> {
  const { TimeLogMessagesModule } = await import('./messages/time-logs/index.js');
  return TimeLogMessagesModule.over(timeLogs, { onMessage: logger.logMessage, acknowledges: true });
}

function apiDocsModule({ attributes }: AppOptions): DynamicModule {
  return ApiDocsModule.forRoot(attributes && ((document) => describeAttributes(document, attributes)));
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

function edgeModule(config: Config): DynamicModule {
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
  });
}
