/**
 * The default limits of time logs: a host gets these, and `src/process/config.ts` uses them as its defaults. Those of
 * settings alone are in `src/process/config.ts`.
 */
export const TIME_LOG_LIMITS = {
  /** The most bytes of a body. */
  bodyLimit: 65_536,
  /** The most milliseconds that a request waits in all. */
  deadline: 2_500,
  /** The most creates that wait for a commit, and the most corrections and deletions that wait for their turn. */
  writeQueue: 2_000,
};

/**
 * The share of the deadline that a costly read may wait in a queue. The statement may take the rest. A read that begins
 * later could not be answered in time; under load that would be all of them.
 */
export const QUEUE_SHARE = 0.4;

/** The limits of time logs, each of them set. */
export type TimeLogLimits = typeof TIME_LOG_LIMITS;

/** The limits of a host, with the defaults for those that it leaves out. */
export function limitsOf(
  given: { readonly [Name in keyof TimeLogLimits]?: number | undefined } = {},
): TimeLogLimits {
  const { bodyLimit, deadline, writeQueue } = TIME_LOG_LIMITS;
  return {
    bodyLimit: given.bodyLimit ?? bodyLimit,
    deadline: given.deadline ?? deadline,
    writeQueue: given.writeQueue ?? writeQueue,
  };
}
