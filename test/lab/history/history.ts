/*
 * What clients wrote, and what they were answered. Times are milliseconds of one clock. Whoever writes a log does so
 * one write after the other.
 */

/** What a log is. Durations are whole numbers, so their sums are exact. */
export interface Values {
  readonly projectId: string;
  readonly duration: number;
}

/** A create, a correction (both with values) or a deletion. Without an `end` nobody was told that it was done. */
export interface Write {
  readonly begin: number;
  end?: number;
  readonly values?: Values;
}

/** A log by its name, which no write changes: all its writes, in order. The first is its create. */
export type Writes = ReadonlyMap<string, readonly Write[]>;

export interface Look {
  readonly begin: number;
  readonly end: number;
  /** Who asks for one answer after the other: its answers never go back, wherever they come from. */
  readonly reader: string;
  /** From a standby: it may be behind, and shows a state that the primary had. */
  readonly isBehind?: boolean;
}
interface Shown extends Values {
  readonly name: string;
}
/** A page of a list; of one project, or of all. */
export interface PageRequest extends Look {
  readonly kind: 'page';
  readonly projectId?: string | undefined;
  readonly total: number;
  readonly items: readonly Shown[];
  /** The page before it in the same list. */
  readonly before?: PageRequest | undefined;
  readonly isLast: boolean;
}
/** Count and sum; of one project, or of all. */
export interface Sums extends Look {
  readonly kind: 'sums';
  readonly projectId?: string | undefined;
  readonly count: number;
  readonly sum: number;
}
/** One log, which was there or not. */
interface One extends Look {
  readonly kind: 'one';
  readonly name: string;
  readonly values: Values | undefined;
}
export type Answer = PageRequest | Sums | One;
