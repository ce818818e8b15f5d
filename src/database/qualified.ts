import type { DataSource, QueryRunner } from 'typeorm';

/** Characters that would end the body of a function, a statement or a quoted name. */
const UNSAFE = /\$\$|[";]/;

/**
 * Returns the quoted name of a table or function, with the schema and the prefix of the DataSource.
 * Throws an Error if these contain characters that our SQL does not support.
 */
export function qualified(dataSource: DataSource, name: string): string {
  const schema = schemaOf(dataSource);
  const prefix = dataSource.options.entityPrefix ?? '';
  if (UNSAFE.test(`${schema} ${prefix}`))
    throw new Error(
      'the schema and the entityPrefix of a DataSource with time logs must not contain $$, ; or "',
    );
  const prefixed = `${prefix}${name}`;
  return (schema === undefined ? [prefixed] : [schema, prefixed])
    .map((part) => dataSource.driver.escape(part))
    .join('.');
}

/** Returns the same name, but always with a schema, for SQL that must work with any search path. */
export async function fullyQualified(runner: QueryRunner, name: string): Promise<string> {
  const dataSource = dataSourceOf(runner);
  const text = qualified(dataSource, name);
  if (schemaOf(dataSource) !== undefined) return text;
  return `${dataSource.driver.escape((await runner.getCurrentSchema()) ?? 'public')}.${text}`;
}

/** Returns the DataSource of a query runner, with the property that TypeORM 0.3 has too. */
export function dataSourceOf(runner: QueryRunner): DataSource {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- `dataSource` came with TypeORM 1
  return runner.connection;
}

/** Returns the schema in the options of a DataSource. */
export function schemaOf({ options }: DataSource): string | undefined {
  return 'schema' in options ? options.schema : undefined;
}
