import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { DataSource, QueryRunner } from 'typeorm';
import {
  type BackupFile,
  BackupFileError,
  type BackupMetadata,
  Progress,
  readBackup,
  type RowCounts,
} from './backup-file.js';
import {
  type Connection,
  type ConnectionOptions,
  quotedList,
  tablesOf,
  TRANSACTION_SETTINGS,
  withConnection,
} from './connection.js';
import { convertKeys } from './keys-of-0-3.js';

interface CheckOptions extends Omit<BackupFile, 'progress'> {
  /** Called with the progress, many times per second. */
  readonly report: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a whole backup. Throws BackupFileError if it cannot be restored. */
export async function checkBackup({ report, signal, ...backup }: CheckOptions): Promise<void> {
  const progress = new Progress(report, ' checked');
  await readBackup({ ...backup, progress }, (_table, rows) =>
    pipeline(rows, new Writable({ write: (_block, _encoding, done) => done() }), { signal }),
  );
}

export interface RestoreOptions extends CheckOptions, ConnectionOptions {
  /** Called at the end of the transaction with the metadata of the file. */
  readonly afterRestore: (runner: QueryRunner, metadata: BackupMetadata) => Promise<void>;
}

/**
 * Inserts the rows of a backup into a migrated database in one transaction. Returns the numbers of
 * rows. A column that an older backup lacks gets its default. Throws an Error with a message of one
 * line, and changes nothing, if a table has rows or the file is damaged.
 */
export async function restore({ afterRestore, report, ...options }: RestoreOptions): Promise<RowCounts> {
  const progress = new Progress(report);
  await withConnection(options, async (connection) => {
    const { runner, ignoreSignal } = connection;
    await runner.startTransaction();
    await runner.query(TRANSACTION_SETTINGS);
    const metadata = await insertRows(connection, options, progress);
    await afterRestore(runner, metadata);
    // The outcome of an interrupted commit would be unknown.
    ignoreSignal();
    await runner.commitTransaction();
  });
  return progress.counts;
}

async function insertRows(
  { dataSource, runner, client }: Connection,
  backup: Omit<BackupFile, 'progress'>,
  progress: Progress,
): Promise<BackupMetadata> {
  const tables = await lockEmptyTables(dataSource, runner);
  const checks = await dropUnvalidatedChecks(runner, [...tables.values()]);
  const metadata = await readBackup({ ...backup, progress }, async (saved, rows) => {
    const table = tables.get(saved.table);
    if (table === undefined)
      throw new BackupFileError(`has the table ${saved.table}, which this version does not know`);
    const current = convertKeys(saved, rows);
    const copy = copyFrom(`copy ${table} (${quotedList(dataSource, current.columns)}) from stdin`);
    await pipeline(current.rows, client.query(copy));
  });
  // ALTER TABLE fails while deferred constraints of new rows are pending.
  if (checks.length > 0) await runner.query('set constraints all immediate');
  for (const check of checks) await runner.query(check);
  return metadata;
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

/** Locks all tables. Returns their quoted names by name. Throws if a table has rows. */
async function lockEmptyTables(dataSource: DataSource, runner: QueryRunner): Promise<Map<string, string>> {
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
  return new Map(tables.map(({ name, quoted }) => [name, quoted]));
}
