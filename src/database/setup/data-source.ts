import { DataSource, type DataSourceOptions } from 'typeorm';
import { isBehindPooler } from '../pooler.js';
import { explainConnectionError } from './error-message.js';
import { requireSuitableDatabase } from './requirements.js';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

interface ConnectionLimits {
  readonly poolSize: number;
  /** The total time that a request may wait for the database, in milliseconds. */
  readonly deadline: number;
}

/** The settings of every session: each commit is on disk, concurrent creates do not fail, and no read is compiled. */
const SETTINGS = {
  default_transaction_isolation: 'read\\ committed',
  synchronous_commit: 'on',
  // Compiling a costly read takes longer than running it.
  jit: 'off',
};
/** The interval at which the server ends the work of a lost client, in milliseconds. */
const CLIENT_CHECK_INTERVAL_MS = 1_000;

/**
 * Returns the options of the service: a pool of limited size, and timeouts that the server enforces. `Database` reads
 * `deadline`, after which the driver gives up a statement. The TLS parameters of the URL apply.
 */
export function connectionOptions(
  url: string,
  entities: PostgresOptions['entities'],
  { poolSize, deadline }: ConnectionLimits,
): PostgresOptions {
  return {
    ...plainOptions(url),
    url: withSettings(url, {
      ...SETTINGS,
      statement_timeout: Math.ceil(deadline * 0.9),
      lock_timeout: Math.ceil(deadline * 0.6),
      idle_in_transaction_session_timeout: deadline,
      client_connection_check_interval: CLIENT_CHECK_INTERVAL_MS,
    }),
    entities: entities ?? [],
    poolSize,
    extra: {
      deadline,
      connectionTimeoutMillis: Math.min(Math.ceil(deadline * 0.8), connectTimeoutOf(url) ?? Infinity),
      keepAlive: true,
      // A load balancer that was reloaded keeps old connections in its old process, which no longer
      // follows the primary or an up-to-date standby.
      maxLifetimeSeconds: 30,
    },
  };
}

/** Returns the options of migrations and commands, without timeouts for statements. */
export function plainOptions(url: string): PostgresOptions {
  const connectTimeoutMS = connectTimeoutOf(url);
  return {
    ...(connectTimeoutMS !== undefined && { connectTimeoutMS }),
    type: 'postgres',
    url: withSettings(url, SETTINGS),
    applicationName: 'time-logs',
    synchronize: false,
    installExtensions: false,
    logging: false,
    poolErrorHandler: () => undefined,
  };
}

/** Adds settings of the session to a URL, whose own `options` win. A pooler would refuse them. */
function withSettings(url: string, settings: Readonly<Record<string, string | number>>): string {
  if (isBehindPooler(url)) return url;
  const parameters = new URLSearchParams(url.split('?')[1]);
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const text = [...options, ...parameters.getAll('options')].join(' ');
  // The driver uses the last of several parameters with a name.
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(text)}`;
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
