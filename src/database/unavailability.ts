import { types } from 'node:util';
import { QueryFailedError } from 'typeorm';

/**
 * SQLSTATEs of a database that cannot take a statement now but may later (PostgreSQL, appendix A): connection
 * exceptions, read-only transaction, invalid authorization during a failover, unknown database, rollbacks, resources,
 * lock not available, intervention, system errors.
 */
const PASSING = /^(?:08|25006|28|3D000|40|53|55P03|57|58)/;

/** True where the connection failed, or the database is away, full, frozen or read-only. False for a fault of ours. */
export function isUnavailability(error: unknown): boolean {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  // Errors of sockets may be of another realm, where `instanceof` says no.
  if (!types.isNativeError(cause) || cause instanceof TypeError || cause instanceof RangeError) return false;
  // The socket, the pool, or the server's words to a new connection: only its reports on a statement have a severity.
  if (!(error instanceof QueryFailedError) || !('severity' in cause)) return true;
  return hasState(error, PASSING);
}

/** True where the server refused a statement and the connection stays. FATAL errors end the connection. */
export function isOfServer(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { severity } = error.driverError as { severity?: unknown };
  return severity !== undefined && severity !== 'FATAL' && severity !== 'PANIC';
}

/** True where a statement would change something, but the server is a standby or read-only. */
export function isOfReadOnlyServer(error: unknown): boolean {
  return hasState(error, /^25006$/);
}

/**
 * True where the server may have ended a statement because other transactions held its rows: by a time limit, for a
 * deadlock, or for a lost race. It may work for everybody else.
 */
export function isOfOthers(error: unknown): boolean {
  return hasState(error, /^(?:57014|55P03|40)/);
}

/**
 * True for an error that a single row may have caused: triggers of a host raise any error that they like, and a policy
 * of row security raises 42501. Any other syntax error or access rule violation outside of a function is about all rows.
 */
export function isRefusalOfRow(error: unknown): boolean {
  if (!(error instanceof QueryFailedError) || isUnavailability(error)) return false;
  const { where, routine } = error.driverError as { readonly where?: string; readonly routine?: string };
  return !hasState(error, /^42/) || where !== undefined || routine === 'ExecWithCheckOptions';
}

/** True if a constraint refuses a row: an integrity constraint violation. */
export function isOfConstraint(error: unknown): boolean {
  return hasState(error, /^23/);
}

/** True if a foreign key does not hold: PostgreSQL 18 has a state of its own for RESTRICT. */
export function isOfForeignKey(error: unknown): boolean {
  return hasState(error, /^(?:23001|23503)$/);
}

/** True for an error about a table with a quoted name; of a foreign key it is the one that refers to another. */
export function isOfTable(error: unknown, table: string): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  return table.endsWith(`"${(error.driverError as { readonly table?: string }).table}"`);
}

/** True where a statement called a function that no migration has made yet. */
export function isUnknownRoutine(error: unknown): boolean {
  return hasState(error, /^(?:42883|3F000)$/);
}

/** True where the server refused a statement with such a SQLSTATE. */
export function hasState(error: unknown, state: RegExp): boolean {
  return (
    error instanceof QueryFailedError && state.test(String((error.driverError as { code?: unknown }).code))
  );
}
