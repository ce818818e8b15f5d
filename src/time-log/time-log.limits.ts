/** The default limits of time logs, for hosts and for the settings of the service. */
export const TIME_LOG_LIMITS = {
  /** The maximum size of a body in bytes. */
  bodyLimit: 65_536,
  /** The same for a batch. */
  batchLimit: 1_048_576,
  /** The maximum total time that a request waits, in milliseconds. */
  deadline: 2_500,
  /** The maximum number of creates that wait for a commit. */
  writeQueue: 2_000,
  /** The time for which idempotency keys are kept, in hours. */
  keyLifetime: 24,
};

/**
 * The share of the deadline that a costly read or a large list may wait. The statement gets the rest. Without it, under
 * load, all reads would start too late to meet the deadline.
 */
export const WAIT_SHARE = 0.4;

/** The limits of time logs, all of them set. */
export type TimeLogLimits = typeof TIME_LOG_LIMITS;

/** Returns the limits of a host, with defaults for missing ones. */
export function limitsOf(
  limits: { readonly [Name in keyof TimeLogLimits]?: number | undefined } = {},
): TimeLogLimits {
  const set = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return { ...TIME_LOG_LIMITS, ...Object.fromEntries(set) };
}
