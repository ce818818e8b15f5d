import type { DataSource, QueryRunner } from 'typeorm';
import type { BackupOptions } from './backup.js';
import { BackupFileError, Progress, readBackup, type RowCounts } from './backup-format.js';
import { openDataSource, plainOptions } from '../database-setup/index.js';
import { Database } from '../database/index.js';

/** Reads a whole backup. Throws BackupFileError with one clear line where it is damaged or of another version. */
export async function checkBackup({
  file,
  migrations,
  report,
  signal,
}: Omit<BackupOptions, 'url' | 'entities'>): Promise<void> {
  const progress = new Progress(report, ' checked');
  for await (const { table, rows } of readBackup(file, migrations)) {
    signal?.throwIfAborted();
    progress.add(table, rows.length);
  }
}

/**
 * Puts the rows of a backup into a migrated database in one transaction, and returns how many.
 * Throws an Error with one clear line, and changes nothing, where a table has rows or the file is not sound.
 */
export async function restore({
  url,
  entities,
  migrations,
  file,
  report,
  signal,
}: BackupOptions): Promise<RowCounts> {
  const dataSource = await openDataSource({ ...plainOptions(url), entities, poolSize: 1 });
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
    const progress = new Progress(report);
    const inserts = await insertsInto(dataSource, runner, progress);
    for await (const { table, rows } of readBackup(file, migrations)) {
      signal?.throwIfAborted();
      const insert = inserts.get(table);
      if (insert === undefined) throw new BackupFileError(`${file}: this version has no table ${table}`);
      await runner.query(insert, [`[${rows.join()}]`]);
      progress.add(table, rows.length);
    }
    await runner.commitTransaction();
    return progress.counts;
  } catch (error) {
    // A connection that is lost has rolled back already.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

/** By table, the statement that inserts an array of rows. Throws where a table has rows; nobody else writes from here on. */
async function insertsInto(
  dataSource: DataSource,
  runner: QueryRunner,
  progress: Progress,
): Promise<Map<string, string>> {
  const inserts = new Map<string, string>();
  for (const { target, tableName, columns } of dataSource.entityMetadatas) {
    const table = new Database(dataSource).table(target);
    await runner.query(`lock table ${table} in share row exclusive mode`);
    const [found] = (await runner.query(`select count(*)::text as rows from ${table}`)) as [{ rows: string }];
    if (found.rows !== '0') {
      throw new Error(
        `the database already holds ${found.rows} rows in ${tableName}: restore into an empty one, e.g. another DATA_DIR`,
      );
    }
    const names = columns.map(({ databaseName }) => dataSource.driver.escape(databaseName)).join();
    inserts.set(
      tableName,
      `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::json)`,
    );
    progress.add(tableName, 0);
  }
  return inserts;
}
