import { DomainError } from '../../../libs/errors/src/index.js';

/** Advice by SQLSTATE: a change on a standby or read-only server; a full disk. */
const ADVICE: Readonly<Record<string, string>> = {
  '25006': 'name a server that is no standby, and a role without default_transaction_read_only',
  '53100': 'free space on the disk of the database, and run it again',
};
/** SQLSTATE. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** The code of an error: a SQLSTATE, or a word of Node; empty where it has none. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/**
 * The message about an error for whoever runs the service. It holds PostgreSQL's own words where they are the cause.
 */
export function messageOf(error: unknown): string {
  // An error about several addresses has no message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.cause !== undefined) return messageOf(error.cause);
  const advice = ADVICE[codeOf(error)];
  return advice === undefined ? error.message : `${error.message}: ${advice}`;
}
