/**
 * The default limits of time logs: a host gets these, and `src/config.ts` uses them as its defaults. All other defaults
 * are in `src/config.ts`.
 */
export const TIME_LOG_LIMITS = {
  /** The most bytes of a body. */
  bodyLimit: 65_536,
  /** The most milliseconds that a request waits in all. */
  deadline: 2_500,
  /** The most creates that wait for the next commit. */
  writeQueue: 2_000,
};
