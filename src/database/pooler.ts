import { hasSqlState } from './unavailability.js';

/** SQLSTATEs of a session without a prepared statement, or with one of another client. */
const SESSION_CHANGED = /^(?:26000|42P05)$/;
/** Advice for errors that show a pooler. */
export const POOLER_ADVICE = 'behind a pooler such as PgBouncer, add pgbouncer=true to the parameters';

/** Returns whether a URL says that sessions are shared: then nothing is prepared, and no settings are sent. */
export function isBehindPooler(url: string | undefined): boolean {
  return new URLSearchParams(url?.split('?')[1]).get('pgbouncer') === 'true';
}

/** Returns the error, with advice if a pooler has changed the session. */
export function explainPooler(error: unknown): unknown {
  if (!hasSqlState(error, SESSION_CHANGED)) return error;
  return new Error(`${(error as Error).message}: ${POOLER_ADVICE} in the URL of the database`, {
    cause: error,
  });
}
