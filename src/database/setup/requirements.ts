import type { DataSource } from 'typeorm';

/** The service does not support the database. The message says what to do. */
export class UnsuitableDatabaseError extends Error {}

const MIN_VERSION = 150_000;
const role = (setting: string) => `run alter role ROLE set ${setting}`;

interface Settings {
  readonly version: number;
  readonly encoding: string;
  readonly fsync: string;
  readonly commit: string;
  readonly isolation: string;
}

/**
 * Throws an UnsuitableDatabaseError if the database or the session could lose logs, or is not supported. `setting` is
 * the name of the setting with the URL.
 */
export async function requireSuitableDatabase(
  dataSource: DataSource,
  setting = 'DATABASE_URL',
): Promise<void> {
  const [settings] = await dataSource.query<[Settings]>(
    `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding,
            current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
            current_setting('transaction_isolation') as isolation`,
  );
  const fault = faultOf(settings, setting);
  if (fault !== undefined) throw new UnsuitableDatabaseError(fault);
}

function faultOf({ version, encoding, fsync, commit, isolation }: Settings, setting: string) {
  if (version < MIN_VERSION)
    return `PostgreSQL ${Math.floor(version / 10_000)} is not supported: use version 15 or later`;
  if (encoding !== 'UTF8')
    return `the encoding of the database is ${encoding}, which cannot store every text: create a database with create database NAME encoding 'UTF8' template template0, and name it in ${setting}`;
  if (fsync !== 'on') return 'fsync is off, so a crash of the database would lose logs: turn it on';
  if (commit !== 'on' && commit !== 'remote_apply')
    return `synchronous_commit is ${commit}, so a crash of the database would lose logs: ${role('synchronous_commit = on')}`;
  if (!isolation.startsWith('read '))
    return `the default isolation level is ${isolation}, under which concurrent creates fail: ${role(`default_transaction_isolation = 'read committed'`)}`;
  return undefined;
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
