import { Socket } from 'node:net';
import type { ClientBase } from 'pg';
import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import { openDataSource, plainOptions, requireAllRows } from '../../../src/database/setup/index.js';

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
 * Runs an action on a connection of its own, then closes the connection even if a statement is
 * running. The signal closes it, too, so that neither a lock nor a server that does not respond
 * delays a command that is stopped. The streams of COPY would wait for both.
 */
export async function withConnection<T>(
  { url, setting, entities, signal }: ConnectionOptions,
  action: (connection: Connection) => Promise<T>,
): Promise<T> {
  const sockets: Socket[] = [];
  const closeNow = () => sockets.forEach((socket) => socket.destroy());
  const stream = () => {
    signal?.throwIfAborted();
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  const ignoreSignal = () => signal?.removeEventListener('abort', closeNow);
  signal?.addEventListener('abort', closeNow);
  try {
    const dataSource = await openDataSource(
      { ...plainOptions(url), entities, poolSize: 1, extra: { stream } },
      setting,
    );
    const runner = dataSource.createQueryRunner();
    try {
      await requireAllRows(dataSource, setting);
      const client = (await runner.connect()) as ClientBase;
      return await action({ dataSource, runner, client, ignoreSignal });
    } finally {
      await runner.release();
      // It does not wait for a running statement.
      await dataSource.destroy();
    }
  } finally {
    ignoreSignal();
  }
}
