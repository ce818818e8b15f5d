import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { MigrationInterface } from 'typeorm';
import { z } from 'zod';
import { countLineFeeds, type Progress, type RowCounts } from './progress.js';

/**
 * A backup is a gzip file, whose checksum detects any damage, with these lines: the header, with
 * the metadata of modules; for each table a line with its name and columns, its rows in the text
 * format of COPY, and `\.`; and the trailer, with the number of rows. Version 2, of releases 0.2 and
 * 0.3, differs in the names of migrations only.
 */
const header = z.object({
  format: z.literal('time-logs-backup'),
  version: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  migrations: z.array(z.string()),
  notes: z.record(z.string(), z.string()).default({}),
});
const table = z.object({ table: z.string(), columns: z.array(z.string()) });
const trailer = z.object({ rows: z.record(z.string(), z.int()) });

export type Migrations = readonly (new () => MigrationInterface)[];
/** Values that modules pass from a backup to its restore, by names of their own. */
export type BackupMetadata = Record<string, string>;

const jsonLine = (value: object) => `${JSON.stringify(value)}\n`;
export const headerLine = (migrations: Migrations, metadata: BackupMetadata) =>
  jsonLine({
    format: 'time-logs-backup',
    version: 3,
    migrations: migrationNames(migrations),
    notes: metadata,
  } satisfies z.infer<typeof header>);
export const tableLine = (name: string, columns: readonly string[]) => jsonLine({ table: name, columns });
export const ROWS_END = '\\.\n';
export const trailerLine = (rows: RowCounts) => jsonLine({ rows });

export function migrationNames(migrations: Migrations): string[] {
  return migrations.map((Migration) => new Migration().name ?? Migration.name).sort();
}

/** A table in a backup. */
export type SavedTable = z.infer<typeof table>;

/** The error for a file that cannot be restored. */
export class BackupFileError extends Error {}

/** The maximum size of a line. A file with a longer one is not a backup. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A migration that backups of 0.3 name, and those of 0.2 do not. */
const LAST_OF_0_3 = 'BindAccessTokensToAttributes1766100700000';

export interface BackupFile {
  readonly file: string;
  readonly migrations: Migrations;
  /** A new Progress, which counts the rows. */
  readonly progress: Progress;
}

/**
 * Reads a whole backup, and returns its metadata. Passes each table to `readRows` with its rows, in
 * blocks of whole lines, all of which `readRows` must read. Throws BackupFileError if the file is
 * missing, damaged, not a backup, or of a newer version. Some damage is detected only at the end of
 * the file.
 */
export async function readBackup(
  { file, migrations, progress }: BackupFile,
  readRows: (table: SavedTable, rows: AsyncIterable<Buffer>) => Promise<void>,
): Promise<BackupMetadata> {
  const lines = new LineReader(readBlocks(file));
  try {
    const { notes } = parseHeader(await lines.next(), migrationNames(migrations));
    let last = await lines.next();
    for (let saved; (saved = table.safeParse(parseJson(last)).data); last = await lines.next()) {
      const { table: name } = saved;
      progress.add(name, 0);
      const rows = lines.until(ROWS_END, (count) => progress.add(name, count));
      await readRows(saved, rows);
      await lines.next();
    }
    const { data } = trailer.safeParse(parseJson(last));
    if (!data || JSON.stringify(data.rows) !== JSON.stringify(progress.counts))
      throw new BackupFileError(
        'is damaged: its last line is missing, or does not match the number of its rows',
      );
    if ((await lines.next()) !== undefined)
      throw new BackupFileError('is damaged: there is data after its end');
    return notes;
  } catch (error) {
    if (error instanceof BackupFileError) throw new BackupFileError(`${file}: ${error.message}`);
    throw error;
  } finally {
    await lines.close();
  }
}

function explainReadError(file: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  if (code.startsWith('Z_'))
    return new BackupFileError(`is damaged, or is not a backup: ${message}`, { cause: error });
  if (code === 'ENOENT') return new Error(`there is no file ${file}: name one that npm run backup has made`);
  return new Error(`${file} cannot be read (${code}): let this user read it`, { cause: error });
}

function parseHeader(text: string | undefined, knownMigrations: readonly string[]): z.infer<typeof header> {
  const { data } = header.safeParse(parseJson(text));
  if (!data) throw new BackupFileError('is not a backup that this version can read');
  if (data.version < 3) {
    if (data.migrations.includes(LAST_OF_0_3)) return data;
    throw new BackupFileError(
      'was made by version 0.1 or 0.2: restore it with version 0.3, and make a backup with that',
    );
  }
  const unknown = data.migrations.filter((name) => !knownMigrations.includes(name));
  if (unknown.length > 0)
    throw new BackupFileError(
      `was made by a newer version, with the migrations ${unknown.join(', ')}: restore it with that version`,
    );
  return data;
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** Reads the lines of a file, one at a time or in blocks. */
class LineReader {
  /** Whole lines that were read from the file and not returned yet. */
  private buffered: Buffer = Buffer.alloc(0);

  constructor(private readonly blocks: AsyncGenerator<Buffer, undefined>) {}

  /** Returns the next line without its line feed; undefined after the last one. */
  async next(): Promise<string | undefined> {
    if (!(await this.fill())) return undefined;
    const end = this.buffered.indexOf('\n');
    return this.take(end + 1).toString('utf8', 0, end);
  }

  /**
   * Yields the lines before this one, which is read next. Throws BackupFileError if it is missing.
   * Calls `count` with the number of lines of each block.
   */
  async *until(line: string, count: (lines: number) => void): AsyncGenerator<Buffer> {
    while (await this.fill()) {
      const end = findLine(this.buffered, line);
      if (end !== 0) {
        const block = this.take(end ?? this.buffered.length);
        count(countLineFeeds(block));
        yield block;
      }
      if (end !== undefined) return;
    }
    throw new BackupFileError('is damaged: its last line is missing');
  }

  async close(): Promise<void> {
    await this.blocks.return(undefined);
  }

  private async fill(): Promise<boolean> {
    if (this.buffered.length > 0) return true;
    const { value, done } = await this.blocks.next();
    if (!done) this.buffered = value;
    return !done;
  }

  private take(length: number): Buffer {
    const taken = this.buffered.subarray(0, length);
    this.buffered = this.buffered.subarray(length);
    return taken;
  }
}

/** Returns the index of a line. */
function findLine(lines: Buffer, line: string): number | undefined {
  if (lines.subarray(0, line.length).equals(Buffer.from(line))) return 0;
  return lines.indexOf(`\n${line}`) + 1 || undefined;
}

/** Yields the whole lines of a gzip file in blocks. Throws BackupFileError if it is damaged. */
async function* readBlocks(file: string): AsyncGenerator<Buffer, undefined> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  let rest: Buffer = Buffer.alloc(0);
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new BackupFileError('is not a file');
    // The loop below throws its errors.
    pipeline(createReadStream(file), gunzip).catch(() => undefined);
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const read = Buffer.concat([rest, chunk]);
      const end = chunk.includes('\n') ? read.lastIndexOf('\n') + 1 : 0;
      rest = read.subarray(end);
      if (rest.length > MAX_LINE_BYTES) throw new BackupFileError('is not a backup: it has no lines');
      if (end > 0) yield read.subarray(0, end);
    }
    if (rest.length > 0) throw new BackupFileError('is damaged: it ends within a line');
    // Node stops at the end of the gzip data.
    if (gunzip.bytesWritten !== found.size)
      throw new BackupFileError('is damaged: there is data after its end');
  } catch (error) {
    throw explainReadError(file, error);
  }
}
