import { types } from 'node:util';
import { QueryFailedError } from 'typeorm';

/**
 * SQLSTATEs of temporary errors (PostgreSQL, appendix A): connection exceptions, read-only
 * transaction, invalid authorization during a failover, unknown database, rollbacks, resources,
 * lock not available, intervention, system errors.
 */
const TEMPORARY = /^(?:08|25006|28|3D000|40|53|55P03|57|58)/;

/** Returns whether the database is unreachable, full, blocked or read-only. */
export function isUnavailability(error: unknown): boolean {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  // Socket errors may come from another realm, so that `instanceof Error` is false for them.
  if (!types.isNativeError(cause) || cause instanceof TypeError || cause instanceof RangeError) return false;
  // Only errors of statements have a severity. Others concern the connection or the pool.
  if (!(error instanceof QueryFailedError) || !('severity' in cause)) return true;
  return hasSqlState(error, TEMPORARY);
}

/** Returns whether the server rejected a statement, and the connection stays open. */
export function isServerError(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { severity } = error.driverError as { severity?: unknown };
  return severity !== undefined && severity !== 'FATAL' && severity !== 'PANIC';
}

/** Returns whether a statement would write, but the server is a standby or read-only. */
export function isReadOnlyError(error: unknown): boolean {
  return hasSqlState(error, /^25006$/);
}

/** Returns whether the driver has given up a statement at its `query_timeout`. The server may still run it. */
export function isDriverTimeout(error: unknown): boolean {
  return error instanceof QueryFailedError && (error.driverError as Error).message === 'Query read timeout';
}

/** Returns whether a statement took longer than it may, or waited too long for a lock. */
export function isTimeout(error: unknown): boolean {
  return hasSqlState(error, /^(?:57014|55P03)$/) || isDriverTimeout(error);
}

/** Returns whether a timeout, a deadlock or a serialization failure may be the cause. */
export function isConcurrencyConflict(error: unknown): boolean {
  return hasSqlState(error, /^(?:57014|55P03|40)/);
}

/**
 * Returns whether a single row may have caused the error. Triggers of a host may raise any error,
 * and row security raises 42501. Another syntax error or access rule violation outside of a
 * function concerns all rows.
 */
export function isRowError(error: unknown): boolean {
  if (!(error instanceof QueryFailedError) || isUnavailability(error)) return false;
  const { where, routine } = error.driverError as { readonly where?: string; readonly routine?: string };
  return !hasSqlState(error, /^42/) || where !== undefined || routine === 'ExecWithCheckOptions';
}

/** Returns whether the error is an integrity constraint violation. */
export function isConstraintViolation(error: unknown): boolean {
  return hasSqlState(error, /^23/);
}

/** Returns whether a foreign key is violated. RESTRICT has its own SQLSTATE in PostgreSQL 18. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasSqlState(error, /^(?:23001|23503)$/);
}

/** Returns whether the error concerns a table. For a foreign key, that is the referencing table. */
export function concernsTable(error: unknown, table: string): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  return table.endsWith(`"${(error.driverError as { readonly table?: string }).table}"`);
}

/** Returns whether a statement called a function that no migration has created yet. */
export function isUndefinedFunction(error: unknown): boolean {
  return hasSqlState(error, /^(?:42883|3F000)$/);
}

/** Returns whether the server rejected a statement with a matching SQLSTATE. */
export function hasSqlState(error: unknown, pattern: RegExp): boolean {
  return (
    error instanceof QueryFailedError && pattern.test(String((error.driverError as { code?: unknown }).code))
  );
}
