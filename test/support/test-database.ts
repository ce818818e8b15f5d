import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A database of its own in the PostgreSQL of the test run, or in another one. */
export interface TestDatabase {
  /** For its owner, who may do no more than an owner on a managed PostgreSQL. */
  readonly url: string;
  /** For what only who runs the server may do. */
  readonly superuserUrl: string;
  /** Drops it and its owner, with whatever is still connected. */
  drop(): Promise<void>;
}

/** Makes a database for an ordinary role of the same name; the URL of the server is that of a superuser. */
export async function createTestDatabase(
  serverUrl: string | undefined = process.env.TEST_DATABASE_URL,
): Promise<TestDatabase> {
  if (serverUrl === undefined) throw new Error('test/support/global-setup.mjs has not run');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const superuserUrl = serverUrl.replace(/\/postgres(?=\?|$)/, `/${name}`);
  // Copied by the kernel: that costs a third less than to write it all to the log.
  const database = `create database ${name} owner ${name} strategy file_copy`;
  await onServer(serverUrl, `create role ${name} login`, database);
  return {
    url: superuserUrl.replace('//postgres@', `//${name}@`),
    superuserUrl,
    drop: () => onServer(serverUrl, `drop database ${name} with (force)`, `drop role ${name}`),
  };
}

async function onServer(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
