import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../dist/libs/embedded-postgres/src/index.js';
import { removeLibpqVariables } from '../../dist/src/config.js';

/** One real PostgreSQL for the whole run, of the compiled code; every test file makes databases of its own in it. */
export default async function setUp() {
  // The tests' own connections follow their URLs alone, as the service does.
  removeLibpqVariables(process.env);
  const directory = await mkdtemp(join(tmpdir(), 'time-logs-test-'));
  const server = await EmbeddedPostgres.start({ dataDirectory: join(directory, 'postgres') });
  process.env.TEST_DATABASE_URL = server.url;
  globalThis.testDatabase = { server, directory };
}
