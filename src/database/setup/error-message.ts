import { DomainError } from '../../../libs/errors/src/index.js';

/** Advice by SQLSTATE: a write on a standby or read-only server; a full disk. */
const ADVICE: Readonly<Record<string, string>> = {
  '25006': 'use a server that is not a standby, and a role without default_transaction_read_only',
  '53100': 'free space on the disk of the database, and try again',
};
/** SQLSTATE. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** Returns the code of an error: a SQLSTATE, or a code of Node.js; empty if it has none. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Returns the message of an error for the operator. It includes the message of PostgreSQL. */
export function messageOf(error: unknown): string {
  // An error about several addresses has no message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.cause !== undefined) return messageOf(error.cause);
  const advice = ADVICE[codeOf(error)];
  return advice === undefined ? error.message : `${error.message}: ${advice}`;
}
