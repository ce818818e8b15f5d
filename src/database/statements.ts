import { hash } from 'node:crypto';

/** A row of a `TextStatement`. */
export type TextRow = readonly (string | null)[];

/** A type parser for node-postgres that keeps the text of each value. */
const KEEP_TEXT = { getTypeParser: () => String };

/**
 * A statement whose rows are arrays of texts, which node-postgres creates faster than objects.
 * Select only types that every driver returns as text: no json, no date.
 */
export class TextStatement {
  readonly rowMode = 'array';
  readonly types = KEEP_TEXT;

  constructor(readonly text: string) {}
}

/** A statement that the server parses and plans once in each session. */
export class PreparedStatement extends TextStatement {
  /** The hash of the text: versions that share the sessions of a pooler have other texts. */
  readonly name: string;

  /**
   * The plan may be as old as the session, so it must be good for any size of the tables. List the
   * result columns by name: they must not change later.
   */
  constructor(text: string) {
    super(text);
    this.name = hash('sha256', text).slice(0, 32);
  }
}

/** A statement whose rows are objects, as a text, or arrays of texts. */
export type Statement = TextStatement | string;

/** The limit of a statement that reads. */
export interface ReadLimit {
  /** The time that it may take, if that is less than for other statements. */
  readonly timeoutMs: number;
  /** The message of the error if it takes longer. */
  readonly message: string;
}

/** The greatest timeout of PostgreSQL, and of a timer of Node.js. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Returns a function that returns the rest of a time as a timeout of PostgreSQL: 1 at its end, since 0 means none. */
export function restOf(timeMs: number): () => number {
  const end = performance.now() + timeMs;
  return () => Math.min(Math.max(Math.ceil(end - performance.now()), 1), MAX_TIMEOUT_MS);
}
