import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { giveTo } from '../../libs/embedded-postgres/src/data-directory.js';
import { type Installation, thisMachine } from '../../libs/embedded-postgres/src/installation.js';
import { run } from '../../libs/embedded-postgres/src/program.js';
import { PostgresCluster } from '../faults/support/postgres-cluster.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** Where Debian and Ubuntu put it. */
const DIRECTORY = '/usr/lib/postgresql/15/bin';
const BINARIES = {
  native: DIRECTORY,
  initdb: join(DIRECTORY, 'initdb'),
  postgres: join(DIRECTORY, 'postgres'),
};
const isSkipped = !existsSync(BINARIES.postgres) && process.env.REQUIRE_POSTGRES_15 !== '1';

/** Milliseconds for a server to be made and started. */
const START_LIMIT = 60_000;

/**
 * `describe` on the newest PostgreSQL that is supported, which is that of the test run, and on the oldest: skipped with
 * one line where 15 is not installed, unless REQUIRE_POSTGRES_15 is 1.
 */
export function describeOnPostgres15And18(
  name: string,
  tests: (createDatabase: () => Promise<TestDatabase>) => void,
): void {
  describe(`${name}, on PostgreSQL 18`, () => tests(createTestDatabase));
  if (isSkipped) process.stderr.write(`skipped, since no PostgreSQL 15 is installed: ${name}\n`);
  (isSkipped ? describe.skip : describe)(`${name}, on PostgreSQL 15`, () => {
    let cluster: PostgresCluster;
    beforeAll(async () => {
      cluster = await PostgresCluster.create({}, undefined, install);
    }, START_LIMIT);
    tests(() => createTestDatabase(cluster.url));
    // Jest ends in the order of the beginnings: the server goes last.
    afterAll(() => cluster.remove());
  });
}

/** Makes the files of a server under the first account that can. */
async function install(dataDirectory: string): Promise<Installation> {
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const failures: string[] = [];
  for (const account of thisMachine.accounts()) {
    await mkdir(dataDirectory);
    await giveTo(dataDirectory, account.owner('initdb'));
    const initdb = account.invoke(BINARIES.initdb, [`--pgdata=${dataDirectory}`, ...options], 'initdb');
    const { ok, reason } = await run(initdb, {});
    if (ok) {
      await giveTo(dataDirectory, account.owner('postgres'));
      return { dataDirectory, binaries: BINARIES, environment: {}, account, created: true };
    }
    failures.push(`${account.name}: ${reason}`);
    await rm(dataDirectory, { recursive: true });
  }
  throw new Error(`PostgreSQL 15 does not run here: ${failures.join('; ')}`);
}
