/** The request ids that a client may send: short, and harmless in a log and a header. */
const WELL_FORMED = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** Returns the id if it is well-formed, else undefined. */
export function parseRequestId(value: unknown): string | undefined {
  return typeof value === 'string' && WELL_FORMED.test(value) ? value : undefined;
}
