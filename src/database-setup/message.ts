import { DomainError } from '../../libs/errors/src/index.js';

/** SQLSTATE of a change that is asked of a standby, or of a server that takes none. */
const READ_ONLY = '25006';

/** What is said of an error to who runs the service: what PostgreSQL said, where that is the cause of it. */
export function messageOf(error: unknown): string {
  // Several addresses tried make one error without a message.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.cause !== undefined) return messageOf(error.cause);
  const isReadOnly = (error as { code?: unknown }).code === READ_ONLY;
  return isReadOnly ? `${error.message}: name a server that is no standby` : error.message;
}
