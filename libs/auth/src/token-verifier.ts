import type { Caller } from './caller.js';

/** The port that verifies bearer tokens. A host application implements it. */
export abstract class TokenVerifier {
  /**
   * Returns the caller of a valid token, else undefined. Its id must be that of the token or subject,
   * never the token itself. Throws DomainError SERVICE_UNAVAILABLE if it cannot verify the token.
   */
  abstract verify(token: string): Promise<Caller | undefined>;
}
