import type { DataSource, QueryRunner } from 'typeorm';

/** What would end the body of a function, a statement or a name. */
const UNFIT = /\$\$|[";]/;

/**
 * The quoted name of a table or function, with the schema and the prefix of the connection's options. Throws an Error
 * where these cannot stand in our SQL.
 */
export function qualified(dataSource: DataSource, name: string): string {
  const schema = schemaOf(dataSource);
  const prefix = dataSource.options.entityPrefix ?? '';
  if (UNFIT.test(`${schema} ${prefix}`)) {
    throw new Error(
      'the schema and the entityPrefix of a DataSource with time logs must not contain $$, ; or "',
    );
  }
  const prefixed = `${prefix}${name}`;
  return (schema === undefined ? [prefixed] : [schema, prefixed])
    .map((part) => dataSource.driver.escape(part))
    .join('.');
}

/** The same, always with a schema: for names that must work on every search path, as in the body of a function. */
export async function fullyQualified(runner: QueryRunner, name: string): Promise<string> {
  const dataSource = dataSourceOf(runner);
  const text = qualified(dataSource, name);
  if (schemaOf(dataSource) !== undefined) return text;
  return `${dataSource.driver.escape((await runner.getCurrentSchema()) ?? 'public')}.${text}`;
}

/** The DataSource of a query runner. TypeORM 0.3 has it under this name too. */
export function dataSourceOf(runner: QueryRunner): DataSource {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- `dataSource` came with TypeORM 1
  return runner.connection;
}

/** The schema that the options of a DataSource name. */
export function schemaOf({ options }: DataSource): string | undefined {
  return 'schema' in options ? options.schema : undefined;
}
