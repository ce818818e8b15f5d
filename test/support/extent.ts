const { EXTENT = 'short' } = process.env;

/** False in the short pass: `npm test`, and what CI takes of the laboratory. */
export const isFull = EXTENT !== 'short';

/** True in the full run alone, not in the nightly one. */
export const isAll = EXTENT === 'full';

/**
 * How often something is done: `full` times in the full run, `few` times in the short pass; in the nightly run a tenth of the full
 * run, but no less than in the short pass.
 */
export function timesOf(full: number, few: number): number {
  if (EXTENT === 'nightly') return Math.max(Math.ceil(full / 10), few);
  return EXTENT === 'full' ? full : few;
}
