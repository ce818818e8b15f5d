import type { DataSourceOptions } from 'typeorm';

export type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

export interface ConnectionLimits {
  readonly poolSize: number;
  /** How many milliseconds a request may wait for the database in all. */
  readonly deadline: number;
}

/**
 * How the service itself connects: a pool of limited size, with time limits that the server enforces. `Database`
 * handles what outlives them. TLS parameters of the URL are honoured.
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
      // Whoever waits for a turn with a statement waits no longer than the rest (time-log-totals.ts).
      statement_timeout: Math.ceil(deadline * 0.6),
      idle_in_transaction_session_timeout: deadline,
      keepAlive: true,
      // A balancer that is reloaded leaves old connections to its old process, which no longer looks where the primary
      // or an up-to-date standby is.
      maxLifetimeSeconds: 30,
      // Sends a change together with the begin and commit of its transaction.
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
    // Role, database or server may have another default.
    isolationLevel: 'READ COMMITTED',
    synchronize: false,
    installExtensions: false,
    logging: false,
    poolErrorHandler: () => undefined,
  };
}
