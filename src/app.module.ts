import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, type TokenVerifier } from '../libs/auth/src/index.js';
import { HttpEdgeModule, type HttpEdgeOptions } from '../libs/http-edge/src/index.js';
import { ByFormVerifier, JwtModule, JwtVerifier } from '../libs/jwt/src/index.js';
import { rateLimit } from '../libs/auth/src/index.js';
import {
  accessTokenEntities,
  accessTokenMigrations,
  AccessTokenModule,
  AccessTokenVerifier,
} from './access-token/index.js';
import { API_DOCS_TAG, ApiDocsModule } from './api-docs/index.js';
import type { Config } from './config.js';
import { Database, DatabaseModule } from './database/index.js';
import { HEALTH_TAG, HealthModule } from './health/index.js';
import { METRICS_TAG, MetricsModule, metricsScopes, RequestMetrics } from './metrics/index.js';
import { connectionOptions, migrate, openDataSource, requireDurability } from './database-setup/index.js';
import {
  timeLogEntities,
  timeLogMigrations,
  TimeLogModule,
  timeLogScopes,
  TIME_LOGS_TAG,
  TypeOrmTimeLogRepository,
  WRITE_LIMITS,
  type WriteLimits,
} from './time-log/index.js';

/** What the service's DataSource must know. */
export const entities = [...accessTokenEntities, ...timeLogEntities];
/** Everything that travels with its module to make its tables. */
export const migrations = [...accessTokenMigrations, ...timeLogMigrations];

/** What the modules say about themselves in the OpenAPI document. */
export const contents = {
  scopes: [...timeLogScopes, ...metricsScopes],
  tags: [TIME_LOGS_TAG, HEALTH_TAG, METRICS_TAG, API_DOCS_TAG],
};

export interface AppOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly migrationUrl: string;
  /** Gives up waiting for the database. */
  readonly signal?: AbortSignal;
  /** The access log. */
  readonly onClose?: HttpEdgeOptions['onClose'];
}

/** Of JWTs and access tokens the one that is wanted, or both. */
function verifierOf(jwts: TokenVerifier | undefined, accessTokens: TokenVerifier | undefined): TokenVerifier {
  return jwts && accessTokens ? new ByFormVerifier(jwts, accessTokens) : (jwts ?? accessTokens)!;
}

/** The composition root: the service as it runs by itself. */
@Module({})
export class AppModule {
  static forRoot({ config, databaseUrl, migrationUrl, signal, onClose }: AppOptions): DynamicModule {
    const { limits } = config;
    const accessTokens = AccessTokenModule.forRoot({
      declared: config.declaredTokens,
      cacheSize: limits.tokenCache,
    });
    const jwts = config.jwt ? [JwtModule.forRoot({ ...config.jwt, cacheSize: limits.tokenCache })] : [];
    const timeLogs = TimeLogModule.withAdapters({
      provide: WRITE_LIMITS,
      useValue: { queue: limits.writeQueue, wait: limits.deadline } satisfies WriteLimits,
    });
    const metrics = MetricsModule.forRootAsync({
      imports: [accessTokens, DatabaseModule, timeLogs],
      inject: [AccessTokenVerifier, Database, TypeOrmTimeLogRepository],
      useFactory: (tokens: AccessTokenVerifier, database: Database, timeLogs: TypeOrmTimeLogRepository) => ({
        writeQueues: timeLogs.queues,
        pool: () => database.pool,
        tokenCache: () => tokens.cache,
      }),
    });
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({
            ...connectionOptions(databaseUrl, entities, limits),
            toRetry: () => false,
          }),
          dataSourceFactory: async (options) => {
            const done = await migrate({ url: migrationUrl, migrations, signal });
            if (done.length > 0) new Logger('Migrations').log(`migrated: ${done.join(', ')}`);
            const dataSource = await openDataSource(options!);
            await requireDurability(dataSource);
            return dataSource;
          },
        }),
        accessTokens,
        AuthModule.forRootAsync({
          imports: [accessTokens, ...jwts],
          inject: [AccessTokenVerifier, { token: JwtVerifier, optional: true }],
          useFactory: (accessTokens: AccessTokenVerifier, jwts?: JwtVerifier) => ({
            verifier: verifierOf(jwts, config.takesAccessTokens ? accessTokens : undefined),
            realm: 'time-logs',
            ...(config.rateLimit && { admit: rateLimit(config.rateLimit) }),
          }),
        }),
        // In the order in which the router tries them.
        timeLogs,
        HealthModule,
        ...(config.apiDocs ? [ApiDocsModule] : []),
        metrics,
        RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
        // Last: its controller answers whatever no other does.
        HttpEdgeModule.forRootAsync({
          imports: [metrics],
          inject: [RequestMetrics],
          useFactory: (requests: RequestMetrics): HttpEdgeOptions => ({
            corsOrigins: config.corsOrigins,
            shutdownDelay: config.shutdownDelay,
            limits,
            onClose: (...request) => {
              requests.note(...request);
              onClose?.(...request);
            },
          }),
        }),
      ],
    };
  }
}
