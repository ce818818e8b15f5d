import type { DataSource } from 'typeorm';

/** The service cannot work with the database or a setting of the role; the message says what to do. */
export class UnfitDatabaseError extends Error {}

const reset = (setting: string) =>
  `alter role ROLE reset ${setting}, or alter database NAME reset ${setting}, as it was set`;

/** An SQL expression for the value at fault (null: no fault), and the message for it. */
const FAULTS: readonly (readonly [condition: string, message: (found: string) => string])[] = [
  [
    `nullif(current_setting('server_encoding'), 'UTF8')`,
    (found) =>
      `the encoding of the database is ${found}, which cannot store every text: make one with create database NAME encoding 'UTF8' template template0, and name that one in DATABASE_URL`,
  ],
  [
    `case when current_schema() is null then current_setting('search_path') end`,
    (found) =>
      `the search_path (${found}) names no schema that exists and that this role may use: name one, such as by alter role ROLE set search_path = public`,
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

/** Throws UnfitDatabaseError with one clear line if the service cannot work with the database or a setting of it. */
export async function requireFitDatabase(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<{ found: (string | null)[] }[]>(
    `select json_build_array(${FAULTS.map(([condition]) => condition).join()}) as found`,
  );
  FAULTS.forEach(([, message], index) => {
    const found = row!.found[index];
    if (found != null) throw new UnfitDatabaseError(message(found));
  });
}
