import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import {
  type BackupFile,
  type BackupMetadata,
  headerLine,
  migrationNames,
  type RowCounts,
  ROWS_END,
  tableLine,
  trailerLine,
} from './backup-file.js';
import {
  type Connection,
  type ConnectionOptions,
  tablesOf,
  TRANSACTION_SETTINGS,
  withConnection,
} from './connection.js';

/** The role of the URL must be allowed to read every table and the list of migrations. */
export interface BackupOptions extends ConnectionOptions, Pick<BackupFile, 'migrations' | 'report'> {
  /** Returns the metadata that the backup has for `afterRestore`. */
  readonly backupMetadata: (runner: QueryRunner) => Promise<BackupMetadata>;
  readonly target: Writable;
}

/**
 * Writes the rows of every entity from one snapshot. Returns the numbers of rows. A backup has no
 * counts of logs: triggers compute them during a restore. Throws an Error with a message of one line
 * if the database is unavailable, or its schema is not that of this version.
 */
export async function backup(options: BackupOptions): Promise<RowCounts> {
  const counts: RowCounts = {};
  await withConnection(options, async (connection) => {
    const { dataSource, runner } = connection;
    // The transaction ends with its connection.
    await runner.query('begin isolation level repeatable read read only');
    await runner.query(TRANSACTION_SETTINGS);
    await requireCurrentSchema(dataSource, runner, migrationNames(options.migrations));
    await pipeline(backupContent(connection, options, counts), createGzip(), options.target);
  });
  return counts;
}

async function requireCurrentSchema(
  dataSource: DataSource,
  runner: QueryRunner,
  names: readonly string[],
): Promise<void> {
  const executed = await new MigrationExecutor(dataSource, runner).getExecutedMigrations();
  // The latest is the first.
  const applied = executed.map(({ name }) => name);
  const missing = names.filter((name) => !applied.includes(name));
  if (missing.length > 0)
    throw new Error(`the database lacks the migrations ${missing.join(', ')}: run npm run migrate first`);
  // Those of version 0.3 come before ours.
  const newer = applied.slice(
    0,
    applied.findIndex((name) => names.includes(name)),
  );
  if (newer.length > 0)
    throw new Error(
      `the database has the migrations ${newer.toReversed().join(', ')} of a newer version: use that version`,
    );
}

/** Yields the content of a backup in parts, and counts its rows. */
async function* backupContent(
  { dataSource, runner, client }: Connection,
  { migrations, backupMetadata, report }: BackupOptions,
  counts: RowCounts,
): AsyncGenerator<string | Buffer> {
  yield headerLine(migrations, await backupMetadata(runner));
  for (const { name, columns, copied } of tablesOf(dataSource)) {
    yield tableLine(name, columns);
    counts[name] = 0;
    for await (const chunk of client.query(copyTo(`copy ${copied(columns)} to stdout`))) {
      const text = chunk as Buffer;
      for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) counts[name]++;
      report(`${name}: ${counts[name]} rows`);
      yield text;
    }
    yield `${ROWS_END}\n`;
  }
  yield trailerLine(counts);
}
