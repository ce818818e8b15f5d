export type RowCounts = Record<string, number>;

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
    if (rows === 0) return;
    const now = performance.now();
    if (count - this.reportedRows < ROWS_PER_REPORT && now - this.reportedAt < REPORT_PAUSE) return;
    this.report(`${table}: ${count} rows${this.verb}`);
    this.reportedRows = count;
    this.reportedAt = now;
  }
}

/** How many lines end in these bytes. */
export function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
