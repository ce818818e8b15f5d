import type { Caller } from './caller.js';

/** The caller on whose behalf a request acts. */
export interface Principal extends Caller {
  /** A stable identifier of the token or its subject, but never the token itself. */
  readonly id: string;
}

/** The port that decides whether a bearer token is valid. A host binds its own. */
export abstract class TokenVerifier {
  /**
   * The principal of a valid token, else undefined. Throws DomainError SERVICE_UNAVAILABLE where it cannot find out.
   */
  abstract verify(token: string): Promise<Principal | undefined>;
}
