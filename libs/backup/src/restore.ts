import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { DataSource, QueryRunner } from 'typeorm';
import { RAISE_SYNCHRONOUS_COMMIT } from '../../../src/database/index.js';
import type { BackupOptions } from './backup.js';
import { type BackupFile, BackupFileError, type BackupNotes, readBackup } from './backup-file.js';
import { type Connection, withConnection } from './connection.js';
import { quotedList, SETTINGS, tablesOf } from './copy.js';
import { Progress, type RowCounts } from './progress.js';

/** Reads a whole backup. Throws BackupFileError with one clear line where it is damaged or of a newer version. */
export async function checkBackup({
  report,
  signal,
  ...backup
}: Omit<BackupOptions, 'url' | 'entities'>): Promise<void> {
  const progress = new Progress(report, ' checked');
  await readBackup({ ...backup, progress }, (_table, rows) =>
    pipeline(rows, new Writable({ write: (_block, _encoding, done) => done() }), { signal }),
  );
}

export interface RestoreOptions extends BackupOptions {
  /** Done at the end of the transaction, with the notes of the file. */
  readonly afterRestore: (runner: QueryRunner, notes: BackupNotes) => Promise<void>;
}

/**
 * Puts the rows of a backup into a migrated database, in one transaction. Returns how many. A column that an older
 * backup lacks gets its default. Throws an Error with one clear line, and changes nothing, where a table already has
 * rows or the file is damaged.
 */
export async function restore({ afterRestore, report, ...options }: RestoreOptions): Promise<RowCounts> {
  const progress = new Progress(report);
  await withConnection(options, async (connection) => {
    const { runner, ignoreSignal } = connection;
    await runner.startTransaction();
    await runner.query(SETTINGS);
    await runner.query(RAISE_SYNCHRONOUS_COMMIT);
    const notes = await takeRows(connection, options, progress);
    await afterRestore(runner, notes);
    // Whoever cuts a commit does not learn whether it was done.
    ignoreSignal();
    await runner.commitTransaction();
  });
  return progress.counts;
}

async function takeRows(
  { dataSource, runner, client }: Connection,
  backup: Omit<BackupFile, 'progress'>,
  progress: Progress,
): Promise<BackupNotes> {
  const tables = await lockEmptyTables(dataSource, runner);
  const checks = await dropChecksOfNewRows(runner, [...tables.values()]);
  const notes = await readBackup({ ...backup, progress }, async (saved, rows) => {
    const table = tables.get(saved.table);
    if (table === undefined)
      throw new BackupFileError(`is not of this version, which has no table ${saved.table}`);
    const copyInto = (target: string) => pipeline(rows, client.query(copyFrom(target)));
    const { columns } = saved;
    if (columns) await copyInto(`copy ${table} (${quotedList(dataSource, columns)}) from stdin`);
    else await insertJson(dataSource, runner, table, copyInto);
  });
  // A table cannot be changed while deferred constraints of its new rows wait for the end of the transaction.
  if (checks.length > 0) await runner.query('set constraints all immediate');
  for (const check of checks) await runner.query(check);
  return notes;
}

/** Drops checks that rows from before them need not pass (NOT VALID). Returns the statements that add them again. */
async function dropChecksOfNewRows(runner: QueryRunner, tables: readonly string[]): Promise<string[]> {
  const checks = (await runner.query(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as "drop",
            format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as "add"
       from pg_constraint where contype = 'c' and not convalidated and conrelid = any($1::regclass[])`,
    [tables],
  )) as { drop: string; add: string }[];
  for (const { drop } of checks) await runner.query(drop);
  return checks.map(({ add }) => add);
}

/** The quoted tables by name. Locks them against other writers. Throws where one of them has rows. */
async function lockEmptyTables(dataSource: DataSource, runner: QueryRunner): Promise<Map<string, string>> {
  const tables = tablesOf(dataSource);
  for (const { name, quoted } of tables) {
    await runner.query(`lock table ${quoted} in share row exclusive mode`);
    const [found] = (await runner.query(`select count(*)::text as rows from ${quoted}`)) as [
      { rows: string },
    ];
    if (found.rows !== '0') {
      throw new Error(
        `the database already holds ${found.rows} rows in ${name}: restore into an empty one, e.g. another DATA_DIR`,
      );
    }
  }
  return new Map(tables.map(({ name, quoted }) => [name, quoted]));
}

/** Rows of version 1 go through a table of JSON values: COPY cannot read JSON objects into columns. */
async function insertJson(
  dataSource: DataSource,
  runner: QueryRunner,
  table: string,
  copyInto: (target: string) => Promise<void>,
): Promise<void> {
  await runner.query('create temporary table json_rows (row json) on commit drop');
  // Quote and delimiter are characters that JSON never holds, so a whole line is one value.
  await copyInto(`copy json_rows from stdin (format csv, quote e'\\x01', delimiter e'\\x02')`);
  const keys = (await runner.query(
    'select json_object_keys(row) as key from (select row from json_rows limit 1) one',
  )) as { key: string }[];
  const columns = quotedList(
    dataSource,
    keys.map(({ key }) => key),
  );
  if (columns !== '')
    await runner.query(
      `insert into ${table} (${columns})
       select ${columns} from json_rows, json_populate_record(null::${table}, json_rows.row)`,
    );
  await runner.query('drop table json_rows');
}
