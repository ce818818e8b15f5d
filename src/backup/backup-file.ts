import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
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
/** The maximum size of a line. A file with a longer one is not a backup. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
export const ROWS_END = '\\.\n';

export type Migrations = readonly (new () => MigrationInterface)[];
/** Values that modules pass from a backup to its restore, by names of their own. */
export type BackupMetadata = Record<string, string>;
/** A table in a backup. */
export type SavedTable = z.infer<typeof table>;
export type RowCounts = Record<string, number>;

/** The error for a file that cannot be restored. */
export class BackupFileError extends Error {}

/** Counts the rows of each table, and reports each change. */
export class Progress {
  readonly counts: RowCounts = {};

  constructor(
    private readonly report: (text: string) => void,
    private readonly verb = '',
  ) {}

  /** Adds the lines of a block to the rows of a table. An empty block adds an empty table. */
  add(table: string, block: Buffer = Buffer.alloc(0)): void {
    let count = this.counts[table] ?? 0;
    for (let at = block.indexOf(10); at !== -1; at = block.indexOf(10, at + 1)) count++;
    this.counts[table] = count;
    this.report(`${table}: ${count} rows${this.verb}`);
  }
}

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
  /** A new Progress, which counts the rows. */
  readonly progress: Progress;
}

/**
 * Reads a whole backup, and returns its metadata. Passes each table to `readRows` with its rows, in
 * blocks of whole lines, all of which `readRows` must read. Throws BackupFileError if the file is
 * missing, damaged, not a backup, or of a version that cannot be restored. Some damage is detected
 * only at the end of the file.
 */
export async function readBackup(
  { file, migrations, progress }: BackupFile,
  readRows: (table: SavedTable, rows: AsyncIterable<Buffer>) => Promise<void>,
): Promise<BackupMetadata> {
  const lines = new LineReader(readBlocks(file));
  try {
    const notes = parseHeader(await lines.nextJson(), migrationNames(migrations));
    let line = await lines.nextJson();
    for (let saved; (saved = table.safeParse(line).data); line = await lines.nextJson()) {
      const { table: name } = saved;
      progress.add(name);
      await readRows(
        saved,
        lines.rows((block) => progress.add(name, block)),
      );
    }
    if (JSON.stringify(trailer.safeParse(line).data?.rows) !== JSON.stringify(progress.counts))
      throw new BackupFileError(
        'is damaged: its last line is missing, or does not match the number of its rows',
      );
    await lines.requireEnd();
    return notes;
  } catch (error) {
    throw error instanceof BackupFileError ? new BackupFileError(`${file}: ${error.message}`) : error;
  } finally {
    await lines.close();
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

/** Reads the lines of a backup: one at a time, or the rows of a table in blocks. */
class LineReader {
  /** Whole lines that were not returned yet. */
  private block: Buffer = Buffer.alloc(0);

  constructor(private readonly blocks: AsyncGenerator<Buffer, undefined>) {}

  /** Returns the value of the next line; undefined if it is not JSON. */
  async nextJson(): Promise<unknown> {
    await this.fill();
    try {
      return JSON.parse(this.take(this.block.indexOf('\n') + 1).toString());
    } catch {
      return undefined;
    }
  }

  /** Yields the rows before `ROWS_END`, which it takes too. */
  async *rows(onBlock: (block: Buffer) => void): AsyncGenerator<Buffer> {
    while (!(await this.isAtRowsEnd())) {
      const end = this.block.indexOf(`\n${ROWS_END}`) + 1;
      const block = this.take(end > 0 ? end : this.block.length);
      onBlock(block);
      yield block;
    }
    this.take(ROWS_END.length);
  }

  async requireEnd(): Promise<void> {
    if (this.block.length === 0 && (await this.blocks.next()).done) return;
    throw new BackupFileError('is damaged: there is data after its end');
  }

  async close(): Promise<void> {
    await this.blocks.return(undefined);
  }

  private async isAtRowsEnd(): Promise<boolean> {
    await this.fill();
    return this.block.toString('latin1', 0, ROWS_END.length) === ROWS_END;
  }

  private async fill(): Promise<void> {
    if (this.block.length > 0) return;
    const { value, done } = await this.blocks.next();
    if (done) throw new BackupFileError('is damaged: its last line is missing');
    this.block = value;
  }

  private take(length: number): Buffer {
    const taken = this.block.subarray(0, length);
    this.block = this.block.subarray(length);
    return taken;
  }
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
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code.startsWith('Z_'))
      throw new BackupFileError(`is damaged, or is not a backup: ${message}`, { cause: error });
    if (code === 'ENOENT')
      throw new Error(`there is no file ${file}: name one that npm run backup has made`, { cause: error });
    throw new Error(`${file} cannot be read (${code}): let this user read it`, { cause: error });
  }
}
