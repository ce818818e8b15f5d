import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { MigrationInterface } from 'typeorm';
import { z } from 'zod';
import { lineFeedsIn, type Progress, type RowCounts } from './progress.js';

/**
 * A backup is a gzip file, whose checksum finds any damage, with these lines: first the header, with what modules note;
 * for each table a line with its name and columns, its rows as PostgreSQL's COPY writes them as text, and `\.`; last
 * the trailer, which counts the rows. In version 1, that of release 0.1, the rows are JSON objects and no `\.` follows
 * them.
 */
const header = z.object({
  format: z.literal('time-logs-backup'),
  version: z.union([z.literal(1), z.literal(2)]),
  migrations: z.array(z.string()),
  notes: z.record(z.string(), z.string()).default({}),
});
const table = z.object({ table: z.string(), columns: z.array(z.string()).optional() });
const trailer = z.object({ rows: z.record(z.string(), z.int()) });

export type Migrations = readonly (new () => MigrationInterface)[];
/** What modules hand from a backup to its restore, by names of their own. */
export type BackupNotes = Record<string, string>;

const line = (value: object) => `${JSON.stringify(value)}\n`;
export const headerLine = (migrations: Migrations, notes: BackupNotes) =>
  line({
    format: 'time-logs-backup',
    version: 2,
    migrations: namesOf(migrations),
    notes,
  } satisfies z.infer<typeof header>);
export const tableLine = (name: string, columns: readonly string[]) => line({ table: name, columns });
export const ROWS_END = '\\.\n';
export const trailerLine = (rows: RowCounts) => line({ rows });

export function namesOf(migrations: Migrations): string[] {
  return migrations.map((Migration) => new Migration().name ?? Migration.name).sort();
}

/** A table in a backup. Without columns its rows are JSON objects. */
export type SavedTable = z.infer<typeof table>;

/** A file that must not be restored; the message says why. */
export class BackupFileError extends Error {}

/** The most bytes of a line. A longer one means that the file is no backup. */
const LONGEST_LINE = 16 * 1024 * 1024;
/** How the line after the rows of a table begins, in each version. */
const ROW_ENDS = { 1: ['{"table":', '{"rows":'], 2: [ROWS_END] } as const;

export interface BackupFile {
  readonly file: string;
  readonly migrations: Migrations;
  /** Counts every row. It must be new. */
  readonly progress: Progress;
}

/**
 * Reads a backup from start to end, and returns its notes. Passes each table to `take` with its rows, in blocks of
 * whole lines; `take` must read all of them. Throws BackupFileError where the file is absent, damaged, no backup, or of
 * a newer version. Some damage only shows at the end of the file.
 */
export async function readBackup(
  { file, migrations, progress }: BackupFile,
  take: (table: SavedTable, rows: AsyncIterable<Buffer>) => Promise<void>,
): Promise<BackupNotes> {
  const handle = await open(file).catch((error: unknown) => {
    throw new BackupFileError(unreadable(file, error), { cause: error });
  });
  const lines = new Lines(blocksOf(handle));
  try {
    const { version, notes } = headerIn(await lines.next(), namesOf(migrations));
    let last = await lines.next();
    for (let found = tableIn(last); found; found = tableIn(last)) {
      progress.add(found.table, 0);
      await take(found, counted(lines.until(ROW_ENDS[version]), found.table, progress));
      if (version === 2) await lines.next();
      last = await lines.next();
    }
    const { data } = trailer.safeParse(jsonOf(last));
    if (!data || JSON.stringify(data.rows) !== JSON.stringify(progress.counts))
      throw new BackupFileError('is damaged: its last line is missing, or does not count its rows');
    if ((await lines.next()) !== undefined)
      throw new BackupFileError('is damaged: something follows its end');
    return notes;
  } catch (error) {
    if (error instanceof BackupFileError) throw new BackupFileError(`${file}: ${error.message}`);
    throw error;
  } finally {
    await lines.close();
    await handle.close();
  }
}

function unreadable(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `there is no file ${file}: name one that npm run backup has made`;
  return `${file} cannot be read (${code}): let this user read it`;
}

function headerIn(text: string | undefined, known: readonly string[]): z.infer<typeof header> {
  const { data } = header.safeParse(jsonOf(text));
  if (!data) throw new BackupFileError('is not a backup that this version knows');
  const unknown = data.migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BackupFileError(
      `was made by a newer version, with the migrations ${unknown.join(', ')}: restore it with that version`,
    );
  return data;
}

function tableIn(text: string | undefined): SavedTable | undefined {
  return table.safeParse(jsonOf(text)).data;
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

async function* counted(
  rows: AsyncIterable<Buffer>,
  name: string,
  progress: Progress,
): AsyncGenerator<Buffer> {
  for await (const block of rows) {
    progress.add(name, lineFeedsIn(block));
    yield block;
  }
}

/** Reads the lines of a file, one at a time or in blocks. */
class Lines {
  /** Whole lines that were read from the file and are not used yet. */
  private ahead: Buffer = Buffer.alloc(0);

  constructor(private readonly blocks: AsyncGenerator<Buffer, undefined>) {}

  /** The next line, without its line feed; undefined after the last one. */
  async next(): Promise<string | undefined> {
    if (!(await this.fill())) return undefined;
    const end = this.ahead.indexOf('\n');
    return this.take(end + 1).toString('utf8', 0, end);
  }

  /**
   * The lines before the first one that begins like this. That line stays. Throws BackupFileError where there is none.
   */
  async *until(beginnings: readonly string[]): AsyncGenerator<Buffer> {
    while (await this.fill()) {
      const end = startOf(this.ahead, beginnings);
      if (end !== 0) yield this.take(end ?? this.ahead.length);
      if (end !== undefined) return;
    }
    throw new BackupFileError('is damaged: its last line is missing');
  }

  async close(): Promise<void> {
    await this.blocks.return(undefined);
  }

  private async fill(): Promise<boolean> {
    if (this.ahead.length > 0) return true;
    const { value, done } = await this.blocks.next();
    if (!done) this.ahead = value;
    return !done;
  }

  private take(length: number): Buffer {
    const taken = this.ahead.subarray(0, length);
    this.ahead = this.ahead.subarray(length);
    return taken;
  }
}

/** The index of the first line that begins in one of these ways. */
function startOf(lines: Buffer, beginnings: readonly string[]): number | undefined {
  const starts = beginnings.map((beginning) => {
    const isFirst = lines.subarray(0, beginning.length).equals(Buffer.from(beginning));
    return isFirst ? 0 : lines.indexOf(`\n${beginning}`) + 1 || Infinity;
  });
  const first = Math.min(...starts);
  return first === Infinity ? undefined : first;
}

/** The content of a gzip file in blocks of whole lines. Throws BackupFileError where it is damaged or has no lines. */
async function* blocksOf(handle: FileHandle): AsyncGenerator<Buffer, undefined> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new BackupFileError('is not a file');
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  // The loop below throws its errors.
  pipeline(handle.createReadStream({ start: 0, autoClose: false }), gunzip).catch(() => undefined);
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const read = Buffer.concat([rest, chunk]);
      const end = chunk.includes('\n') ? read.lastIndexOf('\n') + 1 : 0;
      rest = read.subarray(end);
      if (rest.length > LONGEST_LINE) throw new BackupFileError('is not a backup: it has no lines');
      if (end > 0) yield read.subarray(0, end);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw error;
    throw new BackupFileError(`is damaged, or is not a backup: ${message}`, { cause: error });
  }
  if (rest.length > 0) throw new BackupFileError('is damaged: it ends within a line');
  // Node stops at the end of the gzip data.
  if (gunzip.bytesWritten !== stat.size) throw new BackupFileError('is damaged: something follows its end');
}
