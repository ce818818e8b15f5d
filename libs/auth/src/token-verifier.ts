import type { Caller } from './caller.js';

/** The port that decides whether a bearer token is valid. A host binds its own. */
export abstract class TokenVerifier {
  /**
   * Returns the caller of a valid token, else undefined. Its id is stable: that of the token or its subject, but never
   * the token itself. Throws DomainError SERVICE_UNAVAILABLE if it cannot find out.
   */
  abstract verify(token: string): Promise<Caller | undefined>;
}
