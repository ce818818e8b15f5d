import { EmbeddedPostgres } from '@time-logs/embedded-postgres';

/** Starts PostgreSQL before all tests. Jest runs this file outside its modules, so it may load ES modules. */
export default async function startDatabase(): Promise<void> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory: 'node_modules/.postgres' });
  process.env.DATABASE_URL = postgres.url;
  Object.assign(globalThis, { stopDatabase: () => postgres.stop() });
}
