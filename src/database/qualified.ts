import type { Abstract } from '@nestjs/common';
import type { DataSource, QueryRunner } from 'typeorm';

/** Characters that would end the body of a function, a statement or a quoted name. */
const UNSAFE = /\$\$|[";]/;

/**
 * Returns the quoted name of a table or function, with the schema and the prefix of the DataSource. The table of an
 * entity has the name that the naming strategy of the DataSource makes of it, as for TypeORM. Throws an Error if it
 * contains characters that our SQL does not support.
 */
export function qualified(dataSource: DataSource, name: string, entity?: Abstract<unknown>): string {
  const { namingStrategy, options } = dataSource;
  const schema = schemaOf(dataSource);
  const tableName = entity ? namingStrategy.tableName(entity.name, name) : name;
  const prefix = options.entityPrefix ?? '';
  const full =
    entity && prefix !== '' ? namingStrategy.prefixTableName(prefix, tableName) : `${prefix}${tableName}`;
  if (UNSAFE.test(`${schema} ${full}`))
    throw new Error(
      'the schema and the entityPrefix of a DataSource with time logs, and the names of its namingStrategy, must not contain $$, ; or "',
    );
  return (schema === undefined ? [full] : [schema, full])
    .map((part) => dataSource.driver.escape(part))
    .join('.');
}

/** Returns the same name, but always with a schema, for SQL that must work with any search path. */
export async function fullyQualified(
  runner: QueryRunner,
  name: string,
  entity?: Abstract<unknown>,
): Promise<string> {
  const dataSource = dataSourceOf(runner);
  const text = qualified(dataSource, name, entity);
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
