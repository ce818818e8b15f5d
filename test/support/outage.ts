import { DataSource } from './compiled.js';
import type { TestApp } from './test-app.js';

type Server = InstanceType<typeof DataSource>;

/** Takes the database of an app away while something is done, and brings it back whatever happens. */
export type Outage = (app: TestApp, during: () => Promise<void>) => Promise<void>;

/** The database refuses connections. */
export const closedDatabase: Outage = (app, during) => onServer((server) => closed(server, app, during));

/** There is no database of this name. */
export const missingDatabase: Outage = (app, during) =>
  onServer(async (server) => {
    const name = databaseOf(app);
    await closed(server, app, () => server.query(`alter database ${name} rename to ${name}_away`));
    try {
      await during();
    } finally {
      await server.query(`alter database ${name}_away rename to ${name}`);
      await server.query(`alter database ${name} allow_connections true`);
    }
  });

async function onServer(work: (server: Server) => Promise<void>): Promise<void> {
  const server = await new DataSource({ type: 'postgres', url: process.env.TEST_DATABASE_URL! }).initialize();
  try {
    await work(server);
  } finally {
    await server.destroy();
  }
}

/** Ends all connections to the database of an app and lets nobody in while something is done. */
async function closed(server: Server, app: TestApp, during: () => Promise<unknown>): Promise<void> {
  const name = databaseOf(app);
  await server.query(`alter database ${name} allow_connections false`);
  await server.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
    name,
  ]);
  try {
    await during();
  } finally {
    // By whatever name it goes now.
    await server.query(`alter database ${name} allow_connections true`).catch(() => undefined);
  }
}

function databaseOf({ databaseUrl }: TestApp): string {
  return /\/(test_[0-9a-f]+)/.exec(databaseUrl)![1]!;
}
