import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { TestDatabase } from '../support/test-database.js';
import { loadDump } from './dump.js';

/** Puts what version 0.1 has made into an empty database, whose owner gets it. */
export async function loadVersion01(database: Pick<TestDatabase, 'url' | 'superuserUrl'>): Promise<void> {
  await loadDump(join(import.meta.dirname, 'v0.1.sql.gz'), database.superuserUrl);
  await giveToOwner(database);
}

/** Makes an ordinary role the owner of what the superuser has restored. */
async function giveToOwner({ url, superuserUrl }: Parameters<typeof loadVersion01>[0]): Promise<void> {
  const superuser = await new DataSource({ type: 'postgres', url: superuserUrl }).initialize();
  try {
    const role = new URL(url).username;
    await superuser.query(`do $$ declare statement text; begin
      for statement in
        select format('alter table %s owner to ${role}', oid::regclass) from pg_class
         where relnamespace = 'public'::regnamespace and relkind = 'r'
        union all
        select format('alter function %s owner to ${role}', oid::regprocedure) from pg_proc
         where pronamespace = 'public'::regnamespace
      loop execute statement; end loop; end $$`);
  } finally {
    await superuser.destroy();
  }
}

/** What people have stored, by the columns that it had in version 0.1; the last use of a token goes on changing. */
const COLUMNS = {
  time_logs: 'id, project_id, duration, description, date',
  time_log_keys: 'principal, text, fingerprint, time_log_id, created_at',
  access_tokens: 'id, name, digest, scopes, created_at, expires_at, revoked_at',
};

/** How many rows each table has, and a digest of them all. */
export async function everything(dataSource: DataSource): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [table, columns] of Object.entries(COLUMNS)) {
    [found[table]] = await dataSource.query<unknown[]>(
      `select count(*)::integer as rows, md5(string_agg(row::text, e'\\n' order by row::text)) as digest
         from (select ${columns} from ${table}) row`,
    );
  }
  return found;
}
