import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import type { ClientBase } from 'pg';
import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import { Database } from '../database/index.js';
import { openDataSource, plainOptions, requireAllRows } from '../database/setup/index.js';

/** Settings that make all rows visible, and their text the same on any server, without timeouts. */
export const TRANSACTION_SETTINGS = `
  set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local standard_conforming_strings = on;
  set local bytea_output = 'hex'; set local extra_float_digits = 1;
  set local row_security = off;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

export interface ConnectionOptions {
  readonly url: string;
  /** The name of the setting that holds the URL; by default `DATABASE_URL`. */
  readonly setting?: string | undefined;
  readonly entities: NonNullable<DataSourceOptions['entities']>;
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  readonly dataSource: DataSource;
  readonly runner: QueryRunner;
  /** The client of the runner, for COPY, which TypeORM does not support. */
  readonly client: ClientBase;
  /** Makes the signal have no effect. */
  readonly ignoreSignal: () => void;
}

/**
 * Runs an action on a connection of its own, which the signal cuts, so that neither a lock nor a server that does not
 * respond delays a command that is stopped.
 */
export async function withConnection<T>(
  { url, setting, entities, signal }: ConnectionOptions,
  action: (connection: Connection) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort();
  const ignoreSignal = () => signal?.removeEventListener('abort', onAbort);
  signal?.addEventListener('abort', onAbort);
  const stream = () => addAbortSignal(controller.signal, new Socket());
  const options = { ...plainOptions(url), entities, poolSize: 1, extra: { stream } };
  const dataSource = await openDataSource(options, setting);
  const runner = dataSource.createQueryRunner();
  try {
    await requireAllRows(dataSource, setting);
    const client = (await runner.connect()) as ClientBase;
    return await action({ dataSource, runner, client, ignoreSignal });
  } finally {
    ignoreSignal();
    await runner.release();
    // It does not wait for a running statement.
    await dataSource.destroy();
  }
}

interface Table {
  readonly name: string;
  readonly quoted: string;
  readonly columns: readonly string[];
  /** Returns the table and columns in a COPY statement. */
  readonly copied: (columns: readonly string[]) => string;
}

/** Returns the tables of all entities, in the same order in every version. */
export function tablesOf(dataSource: DataSource): Table[] {
  const database = new Database(dataSource);
  return dataSource.entityMetadatas
    .map(({ tableName, target, columns }) => {
      const quoted = database.table(target);
      const copied = (names: readonly string[]) =>
        `${quoted} (${names.map((name) => dataSource.driver.escape(name)).join()})`;
      return { name: tableName, quoted, columns: columns.map((column) => column.databaseName), copied };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
