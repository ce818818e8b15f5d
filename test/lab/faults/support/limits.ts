/**
 * Milliseconds. Each is ten times what is promised of a machine that does nothing else, for a verdict must not depend
 * on how fast it is; the last line of a run tells the slowest answer that was measured.
 */
const SLACK = 10;

/** Within which every request is answered, whatever the database does: the deadline of a request is 2.5 seconds. */
export const ANSWER_LIMIT = SLACK * 3_000;
/** From the end of a fault to the first create that is acknowledged again. */
export const RETURN_LIMIT = SLACK * 2_000;
/** Within which a service ends after a signal. */
export const END_LIMIT = SLACK * 10_000;
