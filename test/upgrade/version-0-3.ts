import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { withSql } from '../support/backup-rows.js';
import type { TestDatabase } from '../support/test-database.js';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';

/** Puts the database of version 0.3 into a schema of an empty one, whose owner gets its tables and functions. */
export async function loadVersion03(
  { url, superuserUrl }: Pick<TestDatabase, 'url' | 'superuserUrl'>,
  schema = 'public',
): Promise<void> {
  await withSql(url, (owner) => owner.query(`create schema if not exists ${schema}`));
  await loadDump(join(import.meta.dirname, 'v0.3.sql.gz'), superuserUrl, (dump) =>
    dump.replace(/\bpublic\.|"public"\./g, `${schema}.`),
  );
  const role = new URL(url).username;
  await withSql(superuserUrl, (superuser) =>
    superuser.query(`do $$ declare statement text; begin
      for statement in
        select format('alter table %s owner to ${role}', oid::regclass) from pg_class
         where relnamespace = '${schema}'::regnamespace and relkind = 'r'
        union all
        select format('alter function %s owner to ${role}', oid::regprocedure) from pg_proc
         where pronamespace = '${schema}'::regnamespace
      loop execute statement; end loop; end $$`),
  );
}

/** The stored rows, by their columns of version 0.3 that stay; the last use of a token changes. */
const COLUMNS = {
  time_logs: 'id, project_id, duration, description, date, position, corrected_at, attributes',
  time_log_deletions: 'position, id, project_id, deleted_at',
  time_log_departures: 'position, id, project_id, left_at',
  time_log_keys: 'principal, text, fingerprint, created_at',
  time_log_relays: 'sink, position, id',
  access_tokens:
    'id, name, digest, scopes, created_at, expires_at, revoked_at, projects, previous_digest, previous_until, bound',
};

/** Returns how many rows each table has, and a digest of them all. */
export async function everything(
  dataSource: DataSource,
): Promise<Record<string, { readonly rows: number; readonly digest: string }>> {
  const found: Awaited<ReturnType<typeof everything>> = {};
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const [row] = await dataSource.query<(typeof found)[string][]>(
      `select count(*)::integer as rows, md5(string_agg(row::text, e'\\n' order by row::text)) as digest
         from (select ${columns} from ${table}) row`,
    );
    found[table] = row!;
  }
  return found;
}

/** A block of rows in a dump, up to the line that ends it. */
const COPY = /^COPY (.+) FROM stdin;\n([^]*?)^\\\.\n/gm;
/** The escapes of characters in such rows (PostgreSQL, COPY, text format). */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Loads a gzipped plain dump of pg_dump into an empty database, with pg alone, after a change of its text. */
async function loadDump(file: string, url: string, change: (dump: string) => string = String): Promise<void> {
  const dump = change(gunzipSync(await readFile(file)).toString());
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(dump.replace(COPY, (_block, table: string, rows: string) => insertOf(table, rows)));
  } finally {
    await client.end();
  }
}

function insertOf(table: string, rows: string): string {
  if (rows === '') return '';
  const values = rows
    .slice(0, -1)
    .split('\n')
    .map((row) => `(${row.split('\t').map(literalOf).join()})`);
  return `insert into ${table} values ${values.join(',\n')};\n`;
}

function literalOf(text: string): string {
  if (text === '\\N') return 'null';
  const value = text.replace(/\\(.)/g, (_escape, character: string) => ESCAPES[character] ?? character);
  return `'${value.replaceAll("'", "''")}'`;
}
