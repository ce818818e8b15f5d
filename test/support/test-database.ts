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

/** The database that `createMigratedDatabase` copies, and the role that owns what is in it. */
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
  const serverUrl = serverOfWorker();
  await (template ??= makeTemplate(serverUrl));
  const database = await copy(TEMPLATE, serverUrl);
  await query(database.superuserUrl, `reassign owned by ${TEMPLATE} to ${database.name}`);
  return database;
}

let template: Promise<void> | undefined;

/** Makes the template, unless an earlier test file has made it on this server. */
async function makeTemplate(serverUrl: string): Promise<void> {
  const found = await query(serverUrl, `select from pg_database where datname = '${TEMPLATE}'`);
  if (found.rowCount! > 0) return;
  const { migrations } = await import('../../src/app.module.js');
  const { migrate } = await import('../../src/database-setup/index.js');
  const { name, url } = await createTestDatabase(serverUrl);
  await migrate({ url, migrations });
  await query(
    serverUrl,
    // Whoever gets what this role owns in a copy would get the template too.
    `alter database ${name} owner to postgres`,
    `alter role ${name} rename to ${TEMPLATE}`,
    // Last: a template that is not whole is never found.
    `alter database ${name} rename to ${TEMPLATE}`,
  );
}

function serverOfWorker(): string {
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
    drop: async () => {
      await query(serverUrl, `drop database ${name} with (force)`, `drop role ${name}`);
    },
  };
}

/** The result of the last statement; each is in a transaction of its own. */
async function query(connectionString: string, ...statements: string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    let result: pg.QueryResult | undefined;
    for (const statement of statements) result = await client.query(statement);
    return result!;
  } finally {
    await client.end();
  }
}
