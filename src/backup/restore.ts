import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { DataSource, QueryRunner } from 'typeorm';
import {
  type SavedTable,
  type BackupContent,
  type BackupFile,
  BackupFileError,
  type BackupMetadata,
  BYTES,
  readBackup,
  type RowCounts,
} from './backup-file.js';
import {
  type Connection,
  type ConnectionOptions,
  tablesOf,
  TRANSACTION_SETTINGS,
  withConnection,
} from './connection.js';

/** Reads a whole backup. Throws BackupFileError if it cannot be restored. */
export async function checkBackup({ report, ...file }: BackupFile): Promise<void> {
  await readBackup({ ...file, report: (text) => report(`${text} checked`) }, async (_table, rows) => {
    while (!(await rows.next()).done);
  });
}

export interface RestoreOptions extends BackupFile, ConnectionOptions {
  /** Called at the end of the transaction with the metadata of the file. */
  readonly afterRestore: (runner: QueryRunner, metadata: BackupMetadata) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Inserts the rows of a backup into a migrated database in one transaction. Returns the numbers of
 * rows. A column that an older backup lacks gets its default. Throws an Error with a message of one
 * line, and changes nothing, if a table has rows or the file is damaged.
 */
export async function restore({ afterRestore, signal, ...options }: RestoreOptions): Promise<RowCounts> {
  return withConnection({ ...options, signal }, async (connection) => {
    const { runner, ignoreSignal } = connection;
    await runner.startTransaction();
    await runner.query(TRANSACTION_SETTINGS);
    const { counts, metadata } = await insertRows(connection, options);
    await afterRestore(runner, metadata);
    // The outcome of an interrupted commit would be unknown.
    ignoreSignal();
    await runner.commitTransaction();
    return counts;
  });
}

async function insertRows(
  { dataSource, runner, client }: Connection,
  backup: BackupFile,
): Promise<BackupContent> {
  const tables = await lockEmptyTables(dataSource, runner);
  const checks = await dropUnvalidatedChecks(
    runner,
    [...tables.values()].map(({ quoted }) => quoted),
  );
  const content = await readBackup(backup, async (saved, rows) => {
    const table = tables.get(saved.table);
    if (table === undefined)
      throw new BackupFileError(`has the table ${saved.table}, which this version does not know`);
    const { columns, convert } = conversionOf(saved);
    const toBytes = async function* () {
      for await (const block of rows)
        yield Buffer.from(block.map((row) => `${convert(row)}\n`).join(''), BYTES);
    };
    await pipeline(toBytes, client.query(copyFrom(`copy ${table.copied(columns)} from stdin`)));
  });
  // ALTER TABLE fails while deferred constraints of new rows are pending.
  if (checks.length > 0) await runner.query('set constraints all immediate');
  for (const check of checks) await runner.query(check);
  return content;
}

/** Drops NOT VALID checks, which old rows may violate. Returns statements that add them again. */
async function dropUnvalidatedChecks(runner: QueryRunner, tables: readonly string[]): Promise<string[]> {
  const checks = (await runner.query(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as "drop",
            format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as "add"
       from pg_constraint where contype = 'c' and not convalidated and conrelid = any($1::regclass[])`,
    [tables],
  )) as { drop: string; add: string }[];
  for (const { drop } of checks) await runner.query(drop);
  return checks.map(({ add }) => add);
}

/** Locks all tables, and returns them by name. Throws if a table has rows. */
async function lockEmptyTables(dataSource: DataSource, runner: QueryRunner) {
  const tables = tablesOf(dataSource);
  for (const { name, quoted } of tables) {
    await runner.query(`lock table ${quoted} in share row exclusive mode`);
    const [found] = (await runner.query(`select count(*)::text as rows from ${quoted}`)) as [
      { rows: string },
    ];
    if (found.rows !== '0')
      throw new Error(
        `the database already holds ${found.rows} rows in ${name}: restore into an empty one (set another DATABASE_URL, or DATA_DIR)`,
      );
  }
  return new Map(tables.map((table) => [table.name, table]));
}

const NULL = '\\N';
const KEPT = ['principal', 'text', 'fingerprint', 'created_at'];

/** The columns of this version, and a function that makes a row with them of a saved one. */
interface Conversion {
  readonly columns: readonly string[];
  readonly convert: (row: string) => string;
}

/**
 * Returns how to convert the rows of a table in a backup. Keys of version 0.3 have no column `logs`: it gets what the
 * migration from 0.3 puts there.
 */
export function conversionOf({ table, columns }: SavedTable): Conversion {
  if (table !== 'time_log_keys' || !columns.includes('replaced')) return { columns, convert: (row) => row };
  const convert = (row: string) => {
    const fields = row.split('\t');
    const valueOf = (column: string) => fields[columns.indexOf(column)]!;
    return [...KEPT.map(valueOf), logsOf(valueOf)].join('\t');
  };
  return { columns: [...KEPT, 'logs'], convert };
}

function logsOf(valueOf: (column: string) => string): string {
  const [id, ids, replaced] = [valueOf('time_log_id'), valueOf('time_log_ids'), valueOf('replaced')];
  if (replaced.startsWith(`[{"id":"${id}"`)) return replaced;
  return JSON.stringify(ids === NULL ? [id] : ids.slice(1, -1).split(','));
}
