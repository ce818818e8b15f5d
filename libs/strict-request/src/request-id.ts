/** What a caller may give as an id: short, and harmless in a log and a header. */
const WELL_FORMED = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** The id if it is well-formed, else undefined. */
export function wellFormedId(given: unknown): string | undefined {
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : undefined;
}
