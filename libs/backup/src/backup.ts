import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { QueryRunner } from 'typeorm';
import {
  type BackupMetadata,
  headerLine,
  type Migrations,
  migrationNames,
  ROWS_END,
  tableLine,
  trailerLine,
} from './backup-file.js';
import { codeOf } from '../../../src/database/setup/index.js';
import { type Connection, type ConnectionOptions, withConnection } from './connection.js';
import { quotedList, tablesOf, TRANSACTION_SETTINGS } from './copy.js';
import { countLineFeeds, Progress, type RowCounts } from './progress.js';

/** The role of the URL must be allowed to read every table and the list of migrations. */
export interface BackupOptions extends ConnectionOptions {
  readonly migrations: Migrations;
  readonly file: string;
  /** Called with the progress, many times per second. */
  readonly report: (text: string) => void;
}

export interface SaveOptions extends BackupOptions {
  /** Returns the metadata that the file stores for `afterRestore`. */
  readonly backupMetadata: (runner: QueryRunner) => Promise<BackupMetadata>;
}

/**
 * Saves the rows of every entity from one snapshot. Returns the numbers of rows. The file appears
 * when it is complete. It has no counts of logs: triggers compute them during a restore. Throws an
 * Error with a message of one line if the file exists or cannot be written, the database is
 * unavailable, or its schema is not that of this version.
 */
export async function backup({ file, ...source }: SaveOptions): Promise<RowCounts> {
  if (existsSync(file)) throw new Error(`${file} exists already: give the backup another name`);
  const part = `${file}.part`;
  if (existsSync(part))
    throw new Error(`${part} exists: another backup is running; if it was interrupted, remove the file`);
  const handle = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new Error(describeWriteError(file, error), { cause: error });
  });
  try {
    const progress = new Progress(source.report);
    await withConnection(source, async (connection) => {
      await beginSnapshot(connection.runner);
      await requireCurrentSchema(connection.runner, migrationNames(source.migrations));
      await pipeline(
        backupContent(connection, source, progress),
        createGzip(),
        handle.createWriteStream({ flush: true }),
      );
    });
    await rename(part, file);
    return progress.counts;
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    if (DISK_FULL.test(codeOf(error))) throw new Error(describeWriteError(file, error), { cause: error });
    throw error;
  }
}

/** The codes of a full disk, an exceeded quota, and a file that is too large. */
const DISK_FULL = /^(?:ENOSPC|EDQUOT|EFBIG)$/;

function describeWriteError(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const folder = dirname(file);
  if (DISK_FULL.test(codeOf(error)))
    return `there is no room for ${file} (${code}), and nothing was saved: free space in ${folder}, or name a file on another disk`;
  if (code === 'ENOENT') return `there is no folder ${folder}: make it, or name a file in another one`;
  return `${file} cannot be written (${code}): let this user write to ${folder}, or name a file in another folder`;
}

/** Begins a read-only transaction with one snapshot. It ends with its connection. */
async function beginSnapshot(runner: QueryRunner): Promise<void> {
  await runner.query('begin isolation level repeatable read read only');
  await runner.query(TRANSACTION_SETTINGS);
}

async function requireCurrentSchema(runner: QueryRunner, names: readonly string[]): Promise<void> {
  const [found] = (await runner.query(`select to_regclass('migrations') is not null as "exists"`)) as [
    { exists: boolean },
  ];
  const applied = found.exists
    ? ((await runner.query('select name from migrations')) as { name: string }[]).map(({ name }) => name)
    : [];
  const missing = names.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !names.includes(name));
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
  { migrations, backupMetadata }: Pick<SaveOptions, 'migrations' | 'backupMetadata'>,
  progress: Progress,
): AsyncGenerator<string | Buffer> {
  yield headerLine(migrations, await backupMetadata(runner));
  for (const { name, quoted, columns } of tablesOf(dataSource)) {
    yield tableLine(name, columns);
    progress.add(name, 0);
    const copy = copyTo(`copy ${quoted} (${quotedList(dataSource, columns)}) to stdout`);
    for await (const chunk of client.query(copy) as AsyncIterable<Buffer>) {
      progress.add(name, countLineFeeds(chunk));
      yield chunk;
    }
    yield ROWS_END;
  }
  yield trailerLine(progress.counts);
}
