import { DomainError } from '../../../libs/errors/src/index.js';
import { isConstraintViolation, isForeignKeyViolation, concernsTable } from '../../database/index.js';
import { TIME_LOG_IN_USE, CONSTRAINT_VIOLATED } from '../domain/time-log.repository.js';

/** The database reported success but did not make a change. */
export class NotStoredError extends Error {
  constructor() {
    super(
      'a trigger or a rule of the database dropped the change of a time log: it must raise an error instead',
    );
  }
}

/**
 * Returns an SQL condition that is true if `written` has this number of rows. It fails if a trigger dropped a log, so
 * that the statement stores nothing: the cast of the message to boolean raises the error.
 */
export const allWritten = (count: string) => `(
  select case when n = ${count} then true
              else format('a trigger of the database dropped time logs: %s left', n)::boolean end
    from (select count(*) as n from written) counted)`;

/** The error for a second set of tables in a schema: indexes and constraints have no prefix. */
export const schemaTakenError = (cause?: unknown) =>
  new Error(
    'the schema has time logs already, under another entityPrefix or made by synchronize: give each DataSource with time logs a schema of its own, or drop what synchronize has made',
    { cause },
  );

/**
 * Returns the caller's error if a constraint of one of these tables, which have quoted names, rejects
 * a new log; undefined for any other error, such as one from a trigger in another table.
 */
export function mapInsertError(error: unknown, tables: readonly string[]): DomainError | undefined {
  if (!isConstraintViolation(error) || !tables.some((table) => concernsTable(error, table))) return undefined;
  return new DomainError(CONSTRAINT_VIOLATED, undefined, { cause: error });
}

/**
 * Returns the caller's error if a change or a commit violates a constraint; undefined for any other
 * error, such as one from a hook in another table. The name of the table of logs is quoted.
 */
export function mapChangeError(error: unknown, table: string): DomainError | undefined {
  if (isForeignKeyViolation(error) && !concernsTable(error, table))
    return new DomainError(TIME_LOG_IN_USE, undefined, { cause: error });
  return mapInsertError(error, [table]);
}
