import { DomainError } from '../../libs/errors/src/index.js';

/** SQLSTATE: a standby or a read-only server was asked to change something. */
const READ_ONLY = '25006';

/**
 * The message about an error for whoever runs the service. It holds PostgreSQL's own words where they are the cause.
 */
export function messageOf(error: unknown): string {
  // An error about several addresses has no message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.cause !== undefined) return messageOf(error.cause);
  const isReadOnly = (error as { code?: unknown }).code === READ_ONLY;
  return isReadOnly ? `${error.message}: name a server that is no standby` : error.message;
}
