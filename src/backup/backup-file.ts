import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { MigrationInterface } from 'typeorm';
import { z } from 'zod';

/**
 * A backup is a gzip file, whose checksum detects any damage, with these lines: the header, with
 * the metadata of modules; for each table a line with its name and columns, its rows in the text
 * format of COPY, and `\.`; and the trailer, with the number of rows. Version 2, of releases 0.2 and
 * 0.3, differs in the names of migrations only.
 */
const header = z.object({
  format: z.literal('time-logs-backup'),
  version: z.int().max(3),
  migrations: z.array(z.string()),
  notes: z.record(z.string(), z.string()).default({}),
});
const table = z.object({ table: z.string(), columns: z.array(z.string()) });
const trailer = z.object({ rows: z.record(z.string(), z.int()) });

/** A migration that backups of 0.3 name, and those of 0.2 do not. */
const LAST_OF_0_3 = 'BindAccessTokensToAttributes1766100700000';
/** The number of rows that are passed on at once. */
const BLOCK_ROWS = 1_000;
export const ROWS_END = '\\.';
/** The encoding in which bytes are read: each byte is a character, and only LF ends a line. */
export const BYTES = 'latin1';

export type Migrations = readonly (new () => MigrationInterface)[];
/** Values that modules pass from a backup to its restore, by names of their own. */
export type BackupMetadata = Record<string, string>;
/** A table in a backup. */
export type SavedTable = z.infer<typeof table>;
export type RowCounts = Record<string, number>;

/** The error for a file that cannot be restored. */
export class BackupFileError extends Error {}

const jsonLine = (value: object) => `${JSON.stringify(value)}\n`;
export const headerLine = (migrations: Migrations, notes: BackupMetadata) =>
  jsonLine({ format: 'time-logs-backup', version: 3, migrations: migrationNames(migrations), notes });
export const tableLine = (name: string, columns: readonly string[]) => jsonLine({ table: name, columns });
export const trailerLine = (rows: RowCounts) => jsonLine({ rows });

export function migrationNames(migrations: Migrations): string[] {
  return migrations.map((Migration) => new Migration().name ?? Migration.name).sort();
}

export interface BackupFile {
  readonly file: string;
  readonly migrations: Migrations;
  /** Called with the progress, many times per second. */
  readonly report: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** The content of a backup, apart from its rows. */
export interface BackupContent {
  readonly metadata: BackupMetadata;
  readonly counts: RowCounts;
}

/**
 * Reads a whole backup. Passes each table to `readRows` with blocks of its rows, which are lines in `BYTES`, and all of
 * which `readRows` must read. Throws BackupFileError if the file is missing, damaged, not a backup, or of a version
 * that cannot be restored. Some damage is detected only at the end of the file.
 */
export async function readBackup(
  { file, migrations, report, signal }: BackupFile,
  readRows: (table: SavedTable, rows: AsyncGenerator<string[]>) => Promise<void>,
): Promise<BackupContent> {
  const lines = readLines(file, signal);
  const counts: RowCounts = {};
  async function* rowsOf(name: string): AsyncGenerator<string[]> {
    let block: string[] = [];
    for (let line = await nextLine(lines); line !== ROWS_END; line = await nextLine(lines)) {
      if (block.push(line) < BLOCK_ROWS) continue;
      report(`${name}: ${(counts[name]! += block.length)} rows`);
      yield block;
      block = [];
    }
    counts[name]! += block.length;
    yield block;
  }
  try {
    const metadata = parseHeader(json(await nextLine(lines)), migrationNames(migrations));
    let line = json(await nextLine(lines));
    for (let saved; (saved = table.safeParse(line).data); line = json(await nextLine(lines))) {
      counts[saved.table] = 0;
      await readRows(saved, rowsOf(saved.table));
    }
    if (JSON.stringify(trailer.safeParse(line).data?.rows) !== JSON.stringify(counts))
      throw new BackupFileError(
        'is damaged: its last line is missing, or does not match the number of its rows',
      );
    if (!(await lines.next()).done) throw new BackupFileError('is damaged: there is data after its end');
    return { metadata, counts };
  } catch (error) {
    throw error instanceof BackupFileError ? new BackupFileError(`${file}: ${error.message}`) : error;
  } finally {
    await lines.return(undefined);
  }
}

function parseHeader(line: unknown, knownMigrations: readonly string[]): BackupMetadata {
  const { data } = header.safeParse(line);
  if (!data) throw new BackupFileError('is not a backup that this version can read');
  const { version, migrations, notes } = data;
  if (version < 3 && !migrations.includes(LAST_OF_0_3))
    throw new BackupFileError(
      'was made by version 0.1 or 0.2: restore it with version 0.3, and make a backup with that',
    );
  const unknown = migrations.filter((name) => !knownMigrations.includes(name));
  if (version === 3 && unknown.length > 0)
    throw new BackupFileError(
      `was made by a newer version, with the migrations ${unknown.join(', ')}: restore it with that version`,
    );
  return notes;
}

/** Yields the lines of a gzip file in `BYTES`. Throws BackupFileError if it is damaged. */
async function* readLines(file: string, signal: AbortSignal | undefined): AsyncGenerator<string, undefined> {
  const gunzip = createGunzip();
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new BackupFileError('is not a file');
    // The loop below throws its errors.
    pipeline(createReadStream(file), gunzip, { signal }).catch(() => undefined);
    yield* createInterface({ input: gunzip.setEncoding(BYTES) });
    // Node stops at the end of the gzip data.
    if (gunzip.bytesWritten !== found.size)
      throw new BackupFileError('is damaged: there is data after its end');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code.startsWith('Z_'))
      throw new BackupFileError(`is damaged, or is not a backup: ${message}`, { cause: error });
    if (code === 'ENOENT')
      throw new Error(`there is no file ${file}: name one that npm run backup has made`, { cause: error });
    throw new Error(`${file} cannot be read (${code}): let this user read it`, { cause: error });
  } finally {
    gunzip.destroy();
  }
}

async function nextLine(lines: AsyncIterator<string, undefined>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new BackupFileError('is damaged: its last line is missing');
  return value;
}

/** Returns the value of a line; undefined if it is not JSON. */
function json(line: string): unknown {
  try {
    return JSON.parse(Buffer.from(line, BYTES).toString());
  } catch {
    return undefined;
  }
}
