import { DomainError } from '../../libs/errors/src/index.js';

/** SQLSTATE: a standby or a read-only server was asked to change something. */
const READ_ONLY = '25006';
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
  return codeOf(error) === READ_ONLY ? `${error.message}: name a server that is no standby` : error.message;
}
