import type { DataSource } from 'typeorm';
import { Database } from '../../../src/database/index.js';

/** Settings that make all rows visible, and their text the same on any server, without timeouts. */
export const TRANSACTION_SETTINGS = `
  set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local standard_conforming_strings = on;
  set local bytea_output = 'hex'; set local extra_float_digits = 1;
  set local row_security = off;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

interface Table {
  readonly name: string;
  readonly quoted: string;
  readonly columns: readonly string[];
}

/** Returns the tables of all entities, in the same order in every version. */
export function tablesOf(dataSource: DataSource): Table[] {
  const database = new Database(dataSource);
  return dataSource.entityMetadatas
    .map(({ tableName, target, columns }) => ({
      name: tableName,
      quoted: database.table(target),
      columns: columns.map(({ databaseName }) => databaseName),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

export function quotedList({ driver }: DataSource, columns: readonly string[]): string {
  return columns.map((column) => driver.escape(column)).join();
}
