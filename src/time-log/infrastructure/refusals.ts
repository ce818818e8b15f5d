import { DomainError } from '../../../libs/errors/src/index.js';
import { isConstraintViolation, isForeignKeyViolation, concernsTable } from '../../database/index.js';
import { TIME_LOG_IN_USE, CONSTRAINT_VIOLATED } from '../domain/time-log.repository.js';

/** The database took a change without an error, and did not make it. */
export class NotStored extends Error {
  constructor() {
    super(
      'a trigger or a rule of the database dropped the change of a time log: it must raise an error instead',
    );
  }
}

/**
 * The error for the caller if a constraint of one of these tables, which have quoted names, refuses a new log; undefined
 * for any other error, such as that of a trigger in a table of its own.
 */
export function refusalOfNew(error: unknown, tables: readonly string[]): DomainError | undefined {
  if (!isConstraintViolation(error) || !tables.some((table) => concernsTable(error, table))) return undefined;
  return new DomainError(CONSTRAINT_VIOLATED, undefined, { cause: error });
}

/**
 * The error for the caller if a correction or deletion breaks a constraint, or a transaction does at its end; undefined
 * for any other error, such as that of a hook in a table of its own. The table of logs has a quoted name.
 */
export function refusalOfChange(error: unknown, table: string): DomainError | undefined {
  if (isForeignKeyViolation(error) && !concernsTable(error, table))
    return new DomainError(TIME_LOG_IN_USE, undefined, { cause: error });
  return refusalOfNew(error, [table]);
}
