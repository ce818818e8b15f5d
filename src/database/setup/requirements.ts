import type { DataSource } from 'typeorm';

/** The service does not support the database. The message says what to do. */
export class UnsuitableDatabaseError extends Error {}

const reset = (setting: string) =>
  `alter role ROLE reset ${setting}, or alter database NAME reset ${setting}, as it was set`;

/** SQL expressions that return an unsupported value or null, and the messages for that value. */
const REQUIREMENTS: readonly (readonly [
  expression: string,
  message: (value: string, setting: string) => string,
])[] = [
  [
    `nullif(current_setting('server_encoding'), 'UTF8')`,
    (value, setting) =>
      `the encoding of the database is ${value}, which cannot store every text: create a database with create database NAME encoding 'UTF8' template template0, and name it in ${setting}`,
  ],
  [
    `case when current_schema() is null then current_setting('search_path') end`,
    (value) =>
      `the search_path (${value}) has no existing schema that this role may use: add one, for example with alter role ROLE set search_path = public`,
  ],
  [
    `case when current_setting('array_nulls') = 'off' then 'off' end`,
    () => `array_nulls is off, so values would be lost: ${reset('array_nulls')}`,
  ],
  [
    `case when current_setting('session_replication_role') = 'replica' then 'replica' end`,
    () =>
      `session_replication_role is replica, so logs would not be counted: ${reset('session_replication_role')}`,
  ],
];

/** Throws an UnsuitableDatabaseError if the service does not support the database of the setting. */
export async function requireSuitableDatabase(
  dataSource: DataSource,
  setting = 'DATABASE_URL',
): Promise<void> {
  const [row] = await dataSource.query<{ values: (string | null)[] }[]>(
    `select json_build_array(${REQUIREMENTS.map(([expression]) => expression).join()}) as values`,
  );
  REQUIREMENTS.forEach(([, message], index) => {
    const value = row!.values[index];
    if (value != null) throw new UnsuitableDatabaseError(message(value, setting));
  });
}

/**
 * Throws an Error if row security would hide rows of the entities from the role, for commands that
 * need all rows, such as a backup. `setting` is the name of the setting with the URL.
 */
export async function requireAllRows(dataSource: DataSource, setting = 'DATABASE_URL'): Promise<void> {
  const tables = dataSource.entityMetadatas.map(({ tableName }) => dataSource.driver.escape(tableName));
  const [row] = await dataSource.query<{ role: string; hidden: string | null }[]>(
    `select current_user as role, string_agg(to_regclass(name)::text, ', ' order by name) as hidden
       from unnest($1::text[]) name where row_security_active(to_regclass(name))`,
    [tables],
  );
  if (row!.hidden === null) return;
  throw new Error(
    `row security would hide rows of ${row!.hidden} from the role ${row!.role}: use a role with bypassrls in ${setting}, or the owner without force row level security`,
  );
}
