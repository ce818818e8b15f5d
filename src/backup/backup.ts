import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { QueryRunner } from 'typeorm';
import {
  type BackupMetadata,
  headerLine,
  type Migrations,
  migrationNames,
  Progress,
  type RowCounts,
  ROWS_END,
  tableLine,
  trailerLine,
} from './backup-file.js';
import {
  type Connection,
  type ConnectionOptions,
  quotedList,
  tablesOf,
  TRANSACTION_SETTINGS,
  withConnection,
} from './connection.js';

/** The role of the URL must be allowed to read every table and the list of migrations. */
export interface BackupOptions extends ConnectionOptions {
  readonly migrations: Migrations;
  /** Returns the metadata that the backup has for `afterRestore`. */
  readonly backupMetadata: (runner: QueryRunner) => Promise<BackupMetadata>;
  readonly target: Writable;
  /** Called with the progress, many times per second. */
  readonly report: (text: string) => void;
}

/**
 * Writes the rows of every entity from one snapshot. Returns the numbers of rows. A backup has no
 * counts of logs: triggers compute them during a restore. Throws an Error with a message of one line
 * if the database is unavailable, or its schema is not that of this version.
 */
export async function backup(options: BackupOptions): Promise<RowCounts> {
  const progress = new Progress(options.report);
  await withConnection(options, async (connection) => {
    // The transaction ends with its connection.
    await connection.runner.query('begin isolation level repeatable read read only');
    await connection.runner.query(TRANSACTION_SETTINGS);
    await requireCurrentSchema(connection.runner, migrationNames(options.migrations));
    await pipeline(backupContent(connection, options, progress), createGzip(), options.target);
  });
  return progress.counts;
}

async function requireCurrentSchema(runner: QueryRunner, names: readonly string[]): Promise<void> {
  const [found] = (await runner.query(`select to_regclass('migrations') is not null as "exists"`)) as [
    { exists: boolean },
  ];
  const applied = found.exists
    ? ((await runner.query('select name from migrations order by id')) as { name: string }[]).map(
        ({ name }) => name,
      )
    : [];
  const missing = names.filter((name) => !applied.includes(name));
  // Those of version 0.3 come before ours.
  const unknown = applied.slice(applied.findLastIndex((name) => names.includes(name)) + 1);
  if (missing.length > 0)
    throw new Error(`the database lacks the migrations ${missing.join(', ')}: run npm run migrate first`);
  if (unknown.length > 0)
    throw new Error(
      `the database has the migrations ${unknown.join(', ')} of a newer version: use that version`,
    );
}

/** Yields the content of a backup in parts. */
async function* backupContent(
  { dataSource, runner, client }: Connection,
  { migrations, backupMetadata }: Pick<BackupOptions, 'migrations' | 'backupMetadata'>,
  progress: Progress,
): AsyncGenerator<string | Buffer> {
  yield headerLine(migrations, await backupMetadata(runner));
  for (const { name, quoted, columns } of tablesOf(dataSource)) {
    yield tableLine(name, columns);
    progress.add(name);
    const copy = copyTo(`copy ${quoted} (${quotedList(dataSource, columns)}) to stdout`);
    for await (const chunk of client.query(copy) as AsyncIterable<Buffer>) {
      progress.add(name, chunk);
      yield chunk;
    }
    yield ROWS_END;
  }
  yield trailerLine(progress.counts);
}
