export type RowCounts = Record<string, number>;

/** Rows and milliseconds between two reports of progress. The limit that is reached first counts. */
const ROWS_PER_REPORT = 100_000;
const REPORT_PAUSE = 2_000;

/** Counts the rows of each table, and reports progress now and then. */
export class Progress {
  readonly counts: RowCounts = {};
  private reportedRows = 0;
  private reportedAt = performance.now();

  constructor(
    private readonly report: (line: string) => void,
    private readonly verb = '',
  ) {}

  /** Adds rows of a table. 0 makes an empty table known. */
  add(table: string, rows: number): void {
    if (!(table in this.counts)) this.reportedRows = 0;
    const count = (this.counts[table] ?? 0) + rows;
    this.counts[table] = count;
    if (rows === 0) return;
    const now = performance.now();
    if (count - this.reportedRows < ROWS_PER_REPORT && now - this.reportedAt < REPORT_PAUSE) return;
    this.report(`${table}: ${count} rows${this.verb}`);
    this.reportedRows = count;
    this.reportedAt = now;
  }
}

/** How many line feeds these bytes hold. */
export function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
