import { eventually as tryUntil } from '../../src/time-log/contract/eventually.js';

/** Milliseconds: the one limit of all that the laboratory waits for. It ends what hangs, and is no promise of speed. */
export const WAIT_LIMIT = 300_000;

/** Tries until the attempt throws no more; rejects with what it threw last, which says what was waited for. */
export function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  return tryUntil(attempt, WAIT_LIMIT);
}
