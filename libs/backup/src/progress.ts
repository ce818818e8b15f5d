export type RowCounts = Record<string, number>;

/** Counts the rows of each table, and reports each time how many there are. */
export class Progress {
  readonly counts: RowCounts = {};

  constructor(
    private readonly report: (text: string) => void,
    private readonly verb = '',
  ) {}

  /** Adds rows of a table. 0 makes an empty table known. */
  add(table: string, rows: number): void {
    const count = (this.counts[table] ?? 0) + rows;
    this.counts[table] = count;
    this.report(`${table}: ${count} rows${this.verb}`);
  }
}

/** How many line feeds these bytes hold. */
export function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
