/**
 * True in the full run (`npm run suite -- faults`) and in CI; the pass inside `npm test` does less, and each thing less
 * often.
 */
export const isFull = process.env.FAULTS !== undefined;

/** How often something is done: so often in the full run, a quarter of that in CI, and in the short pass a few times. */
export function timesOf(full: number, few: number): number {
  if (!isFull) return few;
  return process.env.FAULTS === 'rest' ? Math.ceil(full / 4) : full;
}

/** All cases in the full run, the first ones in the short pass. */
export function someOf<Case>(cases: readonly Case[], few = 1): readonly Case[] {
  return isFull ? cases : cases.slice(0, few);
}

/**
 * Milliseconds that a client waits after an answer: none in the full run; the short pass leaves the cores to other
 * tests.
 */
export const PACE = isFull ? 0 : 10;
