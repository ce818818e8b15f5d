import type { QueryRunner } from 'typeorm';

/** The quoted name of a table for a migration: in the schema of the connection's options, where it names one. */
export function qualified(runner: QueryRunner, table: string): string {
  const { options, driver } = runner.dataSource;
  const schema = 'schema' in options ? options.schema : undefined;
  return (schema === undefined ? [table] : [schema, table]).map((part) => driver.escape(part)).join('.');
}
