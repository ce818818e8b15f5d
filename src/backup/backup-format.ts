import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import type { MigrationInterface } from 'typeorm';
import { z } from 'zod';

/**
 * A backup is gzip of lines of JSON: the header; for each table a line that names it and its rows, as PostgreSQL writes
 * them; the trailer, which counts the rows and has the SHA-256 of every line before it.
 */
const header = z.strictObject({
  format: z.literal('time-logs-backup'),
  version: z.literal(1),
  migrations: z.array(z.string()),
  tables: z.array(z.string()),
});
const trailer = z.strictObject({ rows: z.record(z.string(), z.int()), sha256: z.string() });

type Header = Pick<z.infer<typeof header>, 'migrations' | 'tables'>;
export type RowCounts = Record<string, number>;
export type Migrations = readonly (new () => MigrationInterface)[];

export const headerLine = ({ migrations, tables }: Header) =>
  JSON.stringify({ format: 'time-logs-backup', version: 1, migrations, tables } satisfies z.infer<
    typeof header
  >);
export const tableLine = (table: string) => JSON.stringify({ table });
export const trailerLine = (rows: RowCounts, sha256: string) => JSON.stringify({ rows, sha256 });

/** What a version's migrations are called, in an order that two versions agree on. */
export function namesOf(migrations: Migrations): string[] {
  return migrations.map((Migration) => new Migration().name ?? Migration.name).sort();
}

/** A file that must not be restored; the message says why. */
export class BackupFileError extends Error {}

/** Some rows of one table, each a line of JSON. */
interface Rows {
  readonly table: string;
  readonly rows: readonly string[];
}

/** Bytes and characters: what is read at once, and what a line may have. */
const CHUNK = 256 * 1024;
const LONGEST_LINE = 16 * 1024 * 1024;
/** How our gzip begins (RFC 1952, section 2.3.1): no flags, no time; the last byte is the system. Neither CRC nor SHA-256 cover it. */
const GZIP = /^1f8b08000000000000(?:03|0a|0b|13)$/;

/**
 * Yields the rows of a backup, a bounded number at a time. Whoever wants a sound file must read to the end:
 * throws BackupFileError where the file turns out to be damaged, foreign, or of a version with other migrations.
 */
export async function* readBackup(path: string, migrations: Migrations): AsyncGenerator<Rows> {
  const handle = await open(path);
  try {
    const content = new Content(namesOf(migrations));
    let last: string | undefined;
    for await (const lines of linesOf(handle)) {
      const complete = last === undefined ? lines : [last, ...lines];
      // The trailer is not part of what it vouches for, and only the end of the file shows which line it is.
      last = complete.pop();
      yield* content.take(complete);
    }
    content.end(last);
  } catch (error) {
    if (error instanceof BackupFileError) throw new BackupFileError(`${path}: ${error.message}`);
    throw error;
  } finally {
    await handle.close();
  }
}

/** The lines of a gzipped file, many at a time. Throws BackupFileError unless the file is one whole gzip of whole lines. */
async function* linesOf(handle: FileHandle): AsyncGenerator<string[]> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new BackupFileError('is not a file');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(10), 0, 10, 0);
  if (!GZIP.test(buffer.toString('hex', 0, bytesRead)))
    throw new BackupFileError('is not a backup: it is not gzip as npm run backup writes it');
  const gunzip = createGunzip({ chunkSize: CHUNK });
  // Its failures come out of the loop below.
  pipeline(handle.createReadStream({ start: 0, autoClose: false }), gunzip).catch(() => undefined);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of gunzip) {
      const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw new BackupFileError('is not a backup: it has no lines');
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    if (!isOfZlib(error)) throw error;
    throw new BackupFileError(`is damaged: ${error.message}`, { cause: error });
  }
  if (rest + decoder.end() !== '') throw new BackupFileError('is damaged: it ends within a line');
  if (gunzip.bytesWritten !== stat.size) throw new BackupFileError('is damaged: something follows its end');
}

function isOfZlib(error: unknown): error is Error {
  return (
    Object.hasOwn(Object(error) as object, 'code') &&
    String((error as { code: unknown }).code).startsWith('Z_')
  );
}

/** Follows the lines of a backup and holds them against what the header and the trailer say. */
class Content {
  private readonly hash = createHash('sha256');
  private readonly counts: RowCounts = {};
  /** The tables that are yet to come; undefined before the header. */
  private expected: string[] | undefined;
  private table: string | undefined;

  constructor(private readonly migrations: readonly string[]) {}

  *take(lines: readonly string[]): Generator<Rows> {
    let rows: string[] = [];
    for (const line of lines) {
      this.hash.update(line).update('\n');
      const next = this.expected?.[0];
      if (!this.expected) {
        this.expected = this.headerOf(line).tables;
      } else if (next !== undefined && line === tableLine(next)) {
        if (this.table !== undefined && rows.length > 0) yield { table: this.table, rows };
        rows = [];
        this.table = this.expected.shift()!;
        this.counts[this.table] = 0;
      } else if (this.table === undefined) {
        throw new BackupFileError('is damaged: a row stands before its table');
      } else {
        rows.push(line);
        this.counts[this.table]! += 1;
      }
    }
    if (this.table !== undefined && rows.length > 0) yield { table: this.table, rows };
  }

  end(line: string | undefined): void {
    if (line !== undefined && !this.expected) this.headerOf(line);
    const { data } = trailer.safeParse(jsonOf(line));
    if (!data || !this.expected) throw new BackupFileError('is damaged: its last line is missing');
    if (this.expected.length > 0) throw new BackupFileError(`is damaged: ${this.expected[0]!} is missing`);
    const counted = JSON.stringify(this.counts) === JSON.stringify(data.rows);
    if (!counted || this.hash.digest('hex') !== data.sha256)
      throw new BackupFileError('is damaged: its content does not match its checksum');
  }

  private headerOf(line: string): Header {
    const { data } = header.safeParse(jsonOf(line));
    if (!data) throw new BackupFileError('is not a backup: its first line is not that of version 1');
    const made = [...data.migrations].sort();
    if (made.join() !== this.migrations.join()) {
      throw new BackupFileError(
        `was made by a version with the migrations ${made.join(', ')}, and this one has ${this.migrations.join(', ')}: restore it with that version, then migrate`,
      );
    }
    return data;
  }
}

function jsonOf(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    return undefined;
  }
}

/** Rows and milliseconds between two reports of progress, whichever is first. */
const ROWS_PER_REPORT = 100_000;
const REPORT_PAUSE = 2_000;

/** Counts the rows of each table, and says now and then how far it has come. */
export class Progress {
  readonly counts: RowCounts = {};
  private reportedRows = 0;
  private reportedAt = performance.now();

  constructor(
    private readonly report: (line: string) => void,
    private readonly verb = '',
  ) {}

  /** With 0 rows for a table that may have none. */
  add(table: string, rows: number): void {
    if (!(table in this.counts)) this.reportedRows = 0;
    const count = (this.counts[table] ?? 0) + rows;
    this.counts[table] = count;
    const now = performance.now();
    if (count - this.reportedRows < ROWS_PER_REPORT && now - this.reportedAt < REPORT_PAUSE) return;
    this.report(`${table}: ${count} rows${this.verb}`);
    this.reportedRows = count;
    this.reportedAt = now;
  }
}
