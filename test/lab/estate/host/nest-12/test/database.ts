import { EmbeddedPostgres } from '@time-logs/embedded-postgres';

/** Starts PostgreSQL before all tests. Returns how to stop it after them. */
export default async function startDatabase(): Promise<() => Promise<void>> {
  const postgres = await EmbeddedPostgres.start({ dataDirectory: 'node_modules/.postgres' });
  process.env.DATABASE_URL = postgres.url;
  return () => postgres.stop();
}
