import type { DataSourceOptions } from 'typeorm';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

export interface ConnectionLimits {
  readonly poolSize: number;
  /** Milliseconds that a request waits for the database in all. */
  readonly deadline: number;
}

/**
 * How the service itself connects: a bounded pool in which everything has a time limit, which the server keeps; `Database`
 * looks after what outlives it. TLS parameters of the URL are honoured.
 */
export function connectionOptions(
  url: string,
  entities: PostgresOptions['entities'],
  { poolSize, deadline }: ConnectionLimits,
): PostgresOptions {
  return {
    ...plainOptions(url),
    entities: entities ?? [],
    poolSize,
    extra: {
      connectionTimeoutMillis: Math.ceil(deadline * 0.8),
      statement_timeout: Math.ceil(deadline * 0.6),
      idle_in_transaction_session_timeout: deadline,
      keepAlive: true,
      // A change and its transaction are sent together.
      pipeline: true,
    },
  };
}

/** How migrations and commands connect: without time limits on statements. */
export function plainOptions(url: string): PostgresOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'time-logs',
    // Whatever the default of the role, the database or the server is.
    isolationLevel: 'READ COMMITTED',
    synchronize: false,
    installExtensions: false,
    logging: false,
    poolErrorHandler: () => undefined,
  };
}
