import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

/** A statement, as text or as the driver takes one that is prepared. */
type Sql = string | { readonly text: string };
interface Client {
  query(sql: Sql, ...more: unknown[]): Promise<unknown>;
}

/** Stands around every statement that a DataSource runs, until the returned function is called. */
export function aroundStatements(
  dataSource: DataSource,
  around: (sql: string, run: () => Promise<unknown>) => Promise<unknown>,
): () => void {
  const driver = dataSource.driver as PostgresDriver;
  const obtain = driver.obtainMasterConnection.bind(driver);
  driver.obtainMasterConnection = async () => {
    const [client, release] = (await obtain()) as [Client, (error?: unknown) => void];
    const query = client.query.bind(client);
    client.query = (sql, ...more) =>
      around(typeof sql === 'string' ? sql : sql.text, () => query(sql, ...more));
    const releasePlain = (error?: unknown) => {
      Reflect.deleteProperty(client, 'query');
      release(error);
    };
    return [client, releasePlain];
  };
  return () => {
    driver.obtainMasterConnection = obtain;
  };
}
