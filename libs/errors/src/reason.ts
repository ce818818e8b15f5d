import { types } from 'node:util';

/** Returns whether a value is an Error of any realm: test runners and `node:vm` have their own. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Returns the message of an error, for the log; `unknown` if the value is not an Error. */
export function reasonOf(error: unknown): string {
  if (!isError(error)) return 'unknown';
  // If no address of a host name can be reached, only the errors of the addresses have a message.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error.message;
}
