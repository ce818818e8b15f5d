import type { DataSource } from 'typeorm';

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
