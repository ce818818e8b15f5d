import type { DataSourceOptions } from 'typeorm';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/** Milliseconds. The statement timeout is below the query timeout, so that the server ends a statement before the pool gives up its connection. */
const LIMITS = { poolWait: 2_000, statement: 1_500, query: 2_500 };
const POOL_SIZE = 10;

/** How the service itself connects: a bounded pool in which everything has a time limit. TLS parameters of the URL are honoured. */
export function connectionOptions(url: string, entities: PostgresOptions['entities']): PostgresOptions {
  return {
    ...plainOptions(url),
    entities: entities ?? [],
    poolSize: POOL_SIZE,
    extra: {
      connectionTimeoutMillis: LIMITS.poolWait,
      statement_timeout: LIMITS.statement,
      query_timeout: LIMITS.query,
      idle_in_transaction_session_timeout: LIMITS.query,
      keepAlive: true,
    },
  };
}

/** How migrations and commands connect: without time limits on statements. */
export function plainOptions(url: string): PostgresOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'time-logs',
    synchronize: false,
    installExtensions: false,
    logging: false,
    poolErrorHandler: () => undefined,
  };
}
