import type { QueryRunner } from 'typeorm';

/** The quoted name of a table for a migration: in the schema and with the prefix of the connection's options. */
export function qualified(runner: QueryRunner, table: string): string {
  const { options, driver } = runner.dataSource;
  const schema = 'schema' in options ? options.schema : undefined;
  const prefixed = `${options.entityPrefix ?? ''}${table}`;
  return (schema === undefined ? [prefixed] : [schema, prefixed])
    .map((part) => driver.escape(part))
    .join('.');
}
