import { QueryFailedError } from 'typeorm';

/**
 * SQLSTATEs of a database that cannot take a statement now but may later (PostgreSQL, appendix A): connection exceptions,
 * read-only transaction, invalid authorization during a failover, rollbacks, resources, lock not available, intervention, system errors.
 */
const PASSING = /^(?:08|25006|28|3D000|40|53|55P03|57|58)/;

/** True for an error of the connection or of a database that is away, full, frozen or read-only; false for a fault of ours. */
export function isUnavailability(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) {
    // From the socket, from the pool, or what the server says to a new connection.
    return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
  }
  const cause = error.driverError as Error & { code?: unknown };
  // Only what the server itself reports has a severity and a SQLSTATE.
  return !('severity' in cause) || PASSING.test(String(cause.code));
}
