import type { OnApplicationShutdown, Type } from '@nestjs/common';
import type { DataSource, DataSourceOptions, MigrationInterface } from 'typeorm';
import { hasAtAfterAuthority, isDecodable } from '../../strict-url/src/index.js';
import { connectionOptions, migrate, openDataSource } from '../../../src/database/setup/index.js';
import { timeLogEntities, type TimeLogLimits, timeLogMigrations } from '../../../src/time-log/index.js';

/** The names of the options that hold URLs, for errors. */
const SETTING = 'connection.url';
const ROLE_SETTING = 'connection.migrationUrl';
const POOL_SIZE = 10;
/** Advice for a start with `migrate: false` that lacks tables. */
export const ADVICE = `remove migrate: false of connection, with ${ROLE_SETTING} if the role of ${SETTING} may not change the schema`;

/** The database of time logs in an app without a DataSource. Options that are not explained are those of TypeORM. */
export interface TimeLogConnection extends Pick<
  Extract<DataSourceOptions, { type: 'postgres' }>,
  'entityPrefix' | 'poolSize' | 'schema' | 'ssl'
> {
  readonly url: string;
  /**
   * Whether the start runs pending migrations, one instance at a time, and creates the schema. The default is true.
   */
  readonly migrate?: boolean | undefined;
  /** The URL with a role that may change the schema. The default is `url`. */
  readonly migrationUrl?: string | undefined;
  /** Entities next to ours, such as `eventRelayEntities`. */
  readonly entities?: readonly Type[] | undefined;
  /** Migrations next to ours, such as `eventRelayMigrations`. */
  readonly migrations?: readonly Type<MigrationInterface>[] | undefined;
}

const MEMBERS: readonly (keyof TimeLogConnection)[] = [
  ...(['url', 'migrate', 'migrationUrl', 'entities', 'migrations'] as const),
  ...(['entityPrefix', 'poolSize', 'schema', 'ssl'] as const),
];

/** The DataSource of the option `connection`. It is closed with the app. */
export class OwnDataSource implements OnApplicationShutdown {
  private constructor(readonly dataSource: DataSource) {}

  /**
   * Migrates and connects as the service does. Throws an Error with a one-line message if an option is unknown, or
   * the database is unreachable, rejects the connection or is not suitable.
   */
  static async open(connection: TimeLogConnection, { deadline }: TimeLogLimits): Promise<OwnDataSource> {
    requireKnown(connection);
    const {
      url,
      migrate: migrates = true,
      migrationUrl,
      entities = [],
      migrations = [],
      poolSize = POOL_SIZE,
      ...options
    } = connection;
    requireUrl(url, SETTING);
    if (migrates) {
      if (migrationUrl !== undefined) requireUrl(migrationUrl, ROLE_SETTING);
      await migrate({
        url: migrationUrl ?? url,
        setting: migrationUrl === undefined ? SETTING : ROLE_SETTING,
        roleSetting: ROLE_SETTING,
        migrations: [...timeLogMigrations, ...migrations],
        options,
      });
    }
    const limits = connectionOptions(url, [...timeLogEntities, ...entities], { poolSize, deadline });
    // Idle connections would keep the process of a failed start alive.
    const extra = { ...(limits.extra as object), allowExitOnIdle: true };
    return new OwnDataSource(await openDataSource({ ...limits, ...options, extra }, SETTING));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dataSource.destroy();
  }
}

/** Throws an Error for a URL that the driver cannot parse, or that is missing. It has no part of the URL. */
function requireUrl(url: unknown, setting: string): void {
  const text = typeof url === 'string' ? url : '';
  // The host may be a parameter, as for the driver.
  const complete = text.replace('@/', '@localhost/');
  const hasForm = /^postgres(ql)?:\/\//.test(text) && isDecodable(text) && URL.canParse(complete);
  if (hasForm && !hasAtAfterAuthority(text)) return;
  throw new Error(
    `${setting} must be postgres://USER:PASSWORD@HOST:PORT/NAME, with special characters percent-encoded${url === undefined ? ', but is undefined' : ''}`,
  );
}

/** Throws an Error for an option that would be ignored. */
function requireKnown(connection: object): void {
  const unknown = Object.keys(connection).find((name) => !(MEMBERS as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new Error(`connection has no option "${unknown}": it takes ${MEMBERS.join(', ')}`);
}
