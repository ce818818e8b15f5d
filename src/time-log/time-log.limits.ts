/**
 * The limits of time logs where nobody sets others: what a host gets, and what `src/config.ts` has as defaults. Every other
 * default stands in `src/config.ts`.
 */
export const TIME_LOG_LIMITS = {
  /** Bytes of a body. */
  bodyLimit: 65_536,
  /** Milliseconds that a request waits in all. */
  deadline: 2_500,
  /** Creates that wait for the next commit. */
  writeQueue: 2_000,
};
