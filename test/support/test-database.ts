import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A database of its own in the PostgreSQL of the test run, or in another one. */
export interface TestDatabase {
  /** Also that of its owner. */
  readonly name: string;
  /** For its owner, who may do no more than an owner on a managed PostgreSQL. */
  readonly url: string;
  /** For what only who runs the server may do. */
  readonly superuserUrl: string;
  /** Drops it and its owner, with whatever is still connected. */
  drop(): Promise<void>;
}

/** The database that global-setup.mjs makes, and the role that owns what is in it. */
const TEMPLATE = 'test_template';

/** Makes an empty database for an ordinary role of the same name; the URL of the server is that of a superuser. */
export function createTestDatabase(serverUrl = serverOfWorker()): Promise<TestDatabase> {
  return copy('template1', serverUrl);
}

/**
 * Makes a database that has run all migrations of the service. To copy one takes a quarter of the time, and less CPU
 * still, so only who looks at migrations runs them.
 */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const database = await copy(TEMPLATE, serverOfWorker());
  await query(database.superuserUrl, `reassign owned by ${TEMPLATE} to ${database.name}`);
  return database;
}

export function serverOfWorker(): string {
  const { TEST_DATABASE_URL } = process.env;
  if (TEST_DATABASE_URL === undefined) throw new Error('test/support/global-setup.mjs has not run');
  return TEST_DATABASE_URL;
}

async function copy(database: string, serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const superuserUrl = serverUrl.replace(/\/postgres(?=\?|$)/, `/${name}`);
  await query(
    serverUrl,
    `create role ${name} login`,
    // Copied by the kernel: that costs a third less than to write it all to the log.
    `create database ${name} owner ${name} template ${database} strategy file_copy`,
  );
  return {
    name,
    url: superuserUrl.replace('//postgres@', `//${name}@`),
    superuserUrl,
    drop: () => query(serverUrl, `drop database ${name} with (force)`, `drop role ${name}`),
  };
}

/** Runs statements, each in a transaction of its own. */
export async function query(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
