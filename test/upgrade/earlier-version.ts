import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { withSql } from '../support/backup-rows.js';
import type { TestDatabase } from '../support/test-database.js';
import { loadDump } from './dump.js';

export type EarlierVersion = `${keyof typeof COLUMNS}`;

/** Puts what a version has made into an empty database, whose owner gets it. */
export async function loadVersion(
  version: EarlierVersion,
  database: Pick<TestDatabase, 'url' | 'superuserUrl'>,
): Promise<void> {
  await loadDump(join(import.meta.dirname, `v${version}.sql.gz`), database.superuserUrl);
  await giveToOwner(database);
}

/** Makes an ordinary role the owner of what the superuser has restored. */
async function giveToOwner({ url, superuserUrl }: Parameters<typeof loadVersion>[1]): Promise<void> {
  const role = new URL(url).username;
  await withSql(superuserUrl, (superuser) =>
    superuser.query(`do $$ declare statement text; begin
      for statement in
        select format('alter table %s owner to ${role}', oid::regclass) from pg_class
         where relnamespace = 'public'::regnamespace and relkind = 'r'
        union all
        select format('alter function %s owner to ${role}', oid::regprocedure) from pg_proc
         where pronamespace = 'public'::regnamespace
      loop execute statement; end loop; end $$`),
  );
}

/** The stored rows, by the columns of each version; the last use of a token changes. */
const COLUMNS = {
  0.1: {
    time_logs: 'id, project_id, duration, description, date',
    time_log_keys: 'principal, text, fingerprint, time_log_id, created_at',
    access_tokens: 'id, name, digest, scopes, created_at, expires_at, revoked_at',
  },
  0.2: {
    time_logs: 'id, project_id, duration, description, date, position, corrected_at, attributes',
    time_log_deletions: 'position, id, project_id, deleted_at',
    time_log_keys: 'principal, text, fingerprint, time_log_id, created_at',
    time_log_relays: 'sink, position, id',
    access_tokens: 'id, name, digest, scopes, created_at, expires_at, revoked_at, projects',
  },
  0.3: {
    time_logs: 'id, project_id, duration, description, date, position, corrected_at, attributes',
    time_log_deletions: 'position, id, project_id, deleted_at',
    time_log_departures: 'position, id, project_id, left_at',
    time_log_keys: 'principal, text, fingerprint, time_log_id, created_at, time_log_ids, replaced',
    time_log_relays: 'sink, position, id',
    access_tokens:
      'id, name, digest, scopes, created_at, expires_at, revoked_at, projects, previous_digest, previous_until, bound',
  },
};

/** How many rows each table of a version has, and a digest of them all. */
export async function everything(
  dataSource: DataSource,
  version: EarlierVersion,
): Promise<Record<string, { readonly rows: number; readonly digest: string }>> {
  const found: Awaited<ReturnType<typeof everything>> = {};
  for (const [table, columns] of Object.entries(COLUMNS[version])) {
    const [row] = await dataSource.query<(typeof found)[string][]>(
      `select count(*)::integer as rows, md5(string_agg(row::text, e'\\n' order by row::text)) as digest
         from (select ${columns} from ${table}) row`,
    );
    found[table] = row!;
  }
  return found;
}
