import { QueryFailedError } from 'typeorm';

/**
 * SQLSTATEs of a database that cannot take a statement now but may later (PostgreSQL, appendix A): connection exceptions,
 * read-only transaction, invalid authorization during a failover, rollbacks, resources, lock not available, intervention, system errors.
 */
const PASSING = /^(?:08|25006|28|3D000|40|53|55P03|57|58)/;

/** True for an error of the connection or of a database that is away, full, frozen or read-only; false for a fault of ours. */
export function isUnavailability(error: unknown): boolean {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (!(cause instanceof Error) || cause instanceof TypeError || cause instanceof RangeError) return false;
  // From the socket, from the pool, or what the server says to a new connection.
  if (!(error instanceof QueryFailedError) || isSilence(error)) return true;
  return PASSING.test(String((cause as { code?: unknown }).code));
}

/** True for a statement that failed without a word of the server: only what the server reports has a severity. */
export function isSilence(error: unknown): boolean {
  return error instanceof QueryFailedError && !('severity' in (error.driverError as Error));
}

/** True where the server itself refused a statement, on a connection that stays: FATAL is what ends one. */
export function isOfServer(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { severity } = error.driverError as { severity?: unknown };
  return severity !== undefined && severity !== 'FATAL' && severity !== 'PANIC';
}

/** True where a statement would have changed something, and the server is a standby or takes no changes. */
export function isOfReadOnlyServer(error: unknown): boolean {
  return error instanceof QueryFailedError && (error.driverError as { code?: unknown }).code === '25006';
}

/** SQLSTATEs of a value or a row that the database refuses: data exceptions and integrity constraint violations. */
const OF_A_ROW = /^(?:22|23)/;

/** True for an error that one row may have brought about, so that the others would be taken without it. */
export function isRefusalOfRow(error: unknown): boolean {
  return (
    error instanceof QueryFailedError && OF_A_ROW.test(String((error.driverError as { code?: unknown }).code))
  );
}
