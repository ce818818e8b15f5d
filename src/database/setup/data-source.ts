import { DataSource, type DataSourceOptions } from 'typeorm';
import { explainConnectionError } from './error-message.js';
import { requireSuitableDatabase } from './requirements.js';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

interface ConnectionLimits {
  readonly poolSize: number;
  /** The total time that a request may wait for the database, in milliseconds. */
  readonly deadline: number;
}

/**
 * Returns the options of the service: a pool of limited size, with timeouts that the server
 * enforces. `Database` handles statements that outlast them. The TLS parameters of the URL apply.
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
      connectionTimeoutMillis: Math.min(Math.ceil(deadline * 0.8), connectTimeoutOf(url) ?? Infinity),
      // The rest of the deadline is the time that a statement may wait in a queue.
      statement_timeout: Math.ceil(deadline * 0.6),
      idle_in_transaction_session_timeout: deadline,
      keepAlive: true,
      // A load balancer that was reloaded keeps old connections in its old process, which no longer
      // follows the primary or an up-to-date standby.
      maxLifetimeSeconds: 30,
      // Sends a change together with the begin and commit of its transaction.
      pipeline: true,
    },
  };
}

/** Returns the options of migrations and commands, without timeouts for statements. */
export function plainOptions(url: string): PostgresOptions {
  const connectTimeoutMS = connectTimeoutOf(url);
  return {
    ...(connectTimeoutMS !== undefined && { connectTimeoutMS }),
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

/** Returns `connect_timeout` of the URL, which the driver ignores, in milliseconds. 0 means none. */
export function connectTimeoutOf(url: string): number | undefined {
  const seconds = Number(new URLSearchParams(url.split('?')[1]).get('connect_timeout'));
  return seconds > 0 ? seconds * 1_000 : undefined;
}

/**
 * Connects to a database; `setting` is the name of the setting with its URL. Throws an Error with a
 * one-line message if it is unreachable, rejects the connection or does not suit the service.
 */
export async function openDataSource(
  options: DataSourceOptions,
  setting = 'DATABASE_URL',
): Promise<DataSource> {
  const { url = '' } = options as PostgresOptions;
  const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
    throw new Error(explainConnectionError(error, url, setting).message, { cause: error });
  });
  try {
    await requireSuitableDatabase(dataSource, setting);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}
