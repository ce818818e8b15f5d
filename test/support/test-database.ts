import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';

/** A database of its own in the PostgreSQL of the test run. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it, with whatever is still connected. */
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl === undefined) throw new Error('test/support/global-setup.mjs has not run');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(serverUrl, `create database ${name}`);
  return {
    url: withDatabase(serverUrl, name),
    drop: () => onServer(serverUrl, `drop database ${name} with (force)`),
  };
}

async function onServer(url: string, sql: string): Promise<void> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    poolErrorHandler: () => undefined,
  }).initialize();
  try {
    await dataSource.query(sql);
  } finally {
    await dataSource.destroy();
  }
}

function withDatabase(url: string, name: string): string {
  return url.replace(/\/postgres(?=\?|$)/, `/${name}`);
}
