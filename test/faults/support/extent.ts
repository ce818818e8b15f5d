/**
 * True in the full run (`npm run suite -- faults`) and in CI; the pass inside `npm test` does less, and each thing less
 * often.
 */
export const isFull = process.env.FAULTS !== undefined;

/** True in the full run alone. */
export const isAll = isFull && process.env.FAULTS !== 'rest';

/** Milliseconds after which a test of so many rounds hangs. */
export const limitOf = (rounds: number): number => 600_000 + rounds * 180_000;

/**
 * How often something is done: so often in the full run, and a few times in the short pass. In CI a tenth of the full
 * run, but no less than in the short pass.
 */
export function timesOf(full: number, few: number): number {
  if (!isFull) return few;
  return process.env.FAULTS === 'rest' ? Math.max(Math.ceil(full / 10), few) : full;
}
