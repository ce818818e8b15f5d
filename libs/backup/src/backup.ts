import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { QueryRunner } from 'typeorm';
import {
  type BackupNotes,
  headerLine,
  type Migrations,
  namesOf,
  ROWS_END,
  tableLine,
  trailerLine,
} from './backup-file.js';
import { codeOf } from '../../../src/database/setup/index.js';
import { type Connection, type ConnectionOptions, withConnection } from './connection.js';
import { quotedList, SETTINGS, tablesOf } from './copy.js';
import { lineFeedsIn, Progress, type RowCounts } from './progress.js';

/** Its role must be one that may read every table and the list of migrations. */
export interface BackupOptions extends ConnectionOptions {
  readonly migrations: Migrations;
  readonly file: string;
  /** Gets a word of progress, many times a second. */
  readonly report: (text: string) => void;
}

export interface SaveOptions extends BackupOptions {
  /** What the file holds beside the rows, for `afterRestore`. */
  readonly note: (runner: QueryRunner) => Promise<BackupNotes>;
}

/**
 * Saves the rows of every entity, as they are at one moment. Returns how many. The file appears when it is complete. It
 * holds no counts of logs: triggers make them again during a restore. Throws an Error with one clear line where the
 * file exists or cannot be written, the database is away, or the schema is not that of this version.
 */
export async function backup({ file, ...source }: SaveOptions): Promise<RowCounts> {
  if (existsSync(file)) throw new Error(`${file} exists already: give the backup another name`);
  const part = `${file}.part`;
  if (existsSync(part))
    throw new Error(`${part} exists: another backup is under way; if it was cut off, remove the file`);
  const handle = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new Error(unwritable(file, error), { cause: error });
  });
  try {
    const progress = new Progress(source.report);
    await withConnection(source, async (connection) => {
      await beginSnapshot(connection.runner);
      await refuseOtherSchema(connection.runner, namesOf(source.migrations));
      await pipeline(
        textOf(connection, source, progress),
        createGzip(),
        handle.createWriteStream({ flush: true }),
      );
    });
    await rename(part, file);
    return progress.counts;
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    if (NO_ROOM.test(codeOf(error))) throw new Error(unwritable(file, error), { cause: error });
    throw error;
  }
}

/** Codes of a disk that is full, of a quota, and of the largest file. */
const NO_ROOM = /^(?:ENOSPC|EDQUOT|EFBIG)$/;

function unwritable(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const folder = dirname(file);
  if (NO_ROOM.test(codeOf(error)))
    return `there is no room for ${file} (${code}), and nothing was saved: free space in ${folder}, or name a file on another disk`;
  if (code === 'ENOENT') return `there is no folder ${folder}: make it, or name a file in another one`;
  return `${file} cannot be written (${code}): let this user write to ${folder}, or name a file in another folder`;
}

/** Begins a transaction that sees the database at one moment and changes nothing. It ends with its connection. */
async function beginSnapshot(runner: QueryRunner): Promise<void> {
  await runner.query('begin isolation level repeatable read read only');
  await runner.query(SETTINGS);
}

async function refuseOtherSchema(runner: QueryRunner, names: readonly string[]): Promise<void> {
  const [found] = (await runner.query(`select to_regclass('migrations') is not null as "isThere"`)) as [
    { isThere: boolean },
  ];
  const applied = found.isThere
    ? ((await runner.query('select name from migrations')) as { name: string }[]).map(({ name }) => name)
    : [];
  const missing = names.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw new Error(`the database lacks the migrations ${missing.join(', ')}: run npm run migrate first`);
  if (unknown.length > 0)
    throw new Error(`the database has the migrations ${unknown.join(', ')} of a newer version: use that one`);
}

/** The text of a backup, piece by piece. */
async function* textOf(
  { dataSource, runner, client }: Connection,
  { migrations, note }: Pick<SaveOptions, 'migrations' | 'note'>,
  progress: Progress,
): AsyncGenerator<string | Buffer> {
  yield headerLine(migrations, await note(runner));
  for (const { name, quoted, columns } of tablesOf(dataSource)) {
    yield tableLine(name, columns);
    progress.add(name, 0);
    const copy = copyTo(`copy ${quoted} (${quotedList(dataSource, columns)}) to stdout`);
    for await (const chunk of client.query(copy) as AsyncIterable<Buffer>) {
      progress.add(name, lineFeedsIn(chunk));
      yield chunk;
    }
    yield ROWS_END;
  }
  yield trailerLine(progress.counts);
}
