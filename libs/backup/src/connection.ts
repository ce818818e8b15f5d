import { Socket } from 'node:net';
import type { ClientBase } from 'pg';
import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import { openDataSource, plainOptions, requireAllRows } from '../../../src/database/setup/index.js';

export interface ConnectionOptions {
  readonly url: string;
  /** The name of the setting that holds the URL: `DATABASE_URL` unless told otherwise. */
  readonly setting?: string | undefined;
  readonly entities: NonNullable<DataSourceOptions['entities']>;
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  readonly dataSource: DataSource;
  readonly runner: QueryRunner;
  /** TypeORM has no COPY. So it runs on TypeORM's own connection. */
  readonly client: ClientBase;
  /** From now on a signal does nothing. */
  readonly ignoreSignal: () => void;
}

/**
 * Does something on a connection of its own, and ends it with whatever runs on it. A signal ends it too: so neither a
 * lock nor a server that is silent holds up whoever was told to stop. The streams of a COPY would wait for both.
 */
export async function withConnection<T>(
  { url, setting, entities, signal }: ConnectionOptions,
  act: (connection: Connection) => Promise<T>,
): Promise<T> {
  const sockets: Socket[] = [];
  const cut = () => sockets.forEach((socket) => socket.destroy());
  const stream = () => {
    signal?.throwIfAborted();
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  const ignoreSignal = () => signal?.removeEventListener('abort', cut);
  signal?.addEventListener('abort', cut);
  try {
    const dataSource = await openDataSource(
      { ...plainOptions(url), entities, poolSize: 1, extra: { stream } },
      setting,
    );
    const runner = dataSource.createQueryRunner();
    try {
      await requireAllRows(dataSource, setting);
      const client = (await runner.connect()) as ClientBase;
      return await act({ dataSource, runner, client, ignoreSignal });
    } finally {
      await runner.release();
      // It does not wait for a statement that is under way.
      await dataSource.destroy();
    }
  } finally {
    ignoreSignal();
  }
}
