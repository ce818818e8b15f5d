const { EXTENT = 'short' } = process.env;

/** False in the short pass: `npm test`, and what CI takes of the laboratory. */
export const isFull = EXTENT !== 'short';

/** True in the full run alone, not in the nightly one. */
export const isAll = EXTENT === 'full';

/**
 * Returns a number of repetitions: `full` in the full run, `few` in the short pass, and a tenth of `full`, but at least
 * `few`, in the nightly run.
 */
export function timesOf(full: number, few: number): number {
  if (EXTENT === 'nightly') return Math.max(Math.ceil(full / 10), few);
  return EXTENT === 'full' ? full : few;
}
