import type { TestApp } from './test-app.js';
import { query, serverOfWorker } from './test-database.js';

/** Takes the database of an app away while something is done, and brings it back whatever happens. */
export type Outage = (app: TestApp, during: () => Promise<void>) => Promise<void>;

/** The database refuses connections. */
export const closedDatabase: Outage = async (app, during) => {
  const name = databaseOf(app);
  await close(name);
  await during().finally(() => query(serverOfWorker(), `alter database ${name} allow_connections true`));
};

/** There is no database of this name. */
export const missingDatabase: Outage = async (app, during) => {
  const name = databaseOf(app);
  await close(name);
  await query(serverOfWorker(), `alter database ${name} rename to ${name}_away`);
  await during().finally(() =>
    query(
      serverOfWorker(),
      `alter database ${name}_away rename to ${name}`,
      `alter database ${name} allow_connections true`,
    ),
  );
};

/** Ends all connections to a database and lets nobody in. */
function close(name: string): Promise<void> {
  return query(
    serverOfWorker(),
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  );
}

function databaseOf({ databaseUrl }: TestApp): string {
  return /\/(test_[0-9a-f]+)/.exec(databaseUrl)![1]!;
}
