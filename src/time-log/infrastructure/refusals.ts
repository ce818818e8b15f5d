import { DomainError } from '../../../libs/errors/src/index.js';
import { isOfConstraint, isOfForeignKey, isOfTable } from '../../database/index.js';
import { REFERRED_TO, REFUSED } from '../domain/time-log.repository.js';

/** The database took a change without an error, and did not make it. */
export class NotStored extends Error {
  constructor() {
    super(
      'a trigger or a rule of the database dropped the change of a time log: it must raise an error instead',
    );
  }
}

/** Throws what a caller gets if a constraint refuses a change, else the error itself. */
export function refuse(error: unknown): never {
  throw isOfConstraint(error) ? new DomainError(REFUSED, undefined, { cause: error }) : error;
}

/**
 * The error for the caller if a deletion breaks a constraint, or a transaction does at its end; undefined for any other
 * error, such as that of a hook in a table of its own. The table of logs has a quoted name.
 */
export function refusalAtEnd(error: unknown, table: string): DomainError | undefined {
  if (!isOfConstraint(error)) return undefined;
  if (isOfTable(error, table)) return new DomainError(REFUSED, undefined, { cause: error });
  return isOfForeignKey(error) ? new DomainError(REFERRED_TO, undefined, { cause: error }) : undefined;
}
