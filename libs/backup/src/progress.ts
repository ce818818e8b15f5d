export type RowCounts = Record<string, number>;

/** Counts the rows of each table, and reports each change. */
export class Progress {
  readonly counts: RowCounts = {};

  constructor(
    private readonly report: (text: string) => void,
    private readonly verb = '',
  ) {}

  /** Adds rows of a table. 0 adds an empty table. */
  add(table: string, rows: number): void {
    const count = (this.counts[table] ?? 0) + rows;
    this.counts[table] = count;
    this.report(`${table}: ${count} rows${this.verb}`);
  }
}

/** Returns the number of line feeds. */
export function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
