/** The greatest timeout of PostgreSQL, and of a timer of Node.js. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Returns a function that returns the rest of a deadline as a timeout of PostgreSQL; undefined without one. */
export function restOf(deadline: number): () => number;
export function restOf(deadline: number | undefined): () => number | undefined;
export function restOf(deadline: number | undefined): () => number | undefined {
  if (deadline === undefined) return () => undefined;
  const end = performance.now() + deadline;
  return () => Math.min(Math.max(Math.ceil(end - performance.now()), 1), MAX_TIMEOUT_MS);
}
