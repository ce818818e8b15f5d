/** The caller on whose behalf a request acts. */
export interface Principal {
  /** A stable identifier of the token or its subject, but never the token itself. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** The projects that the caller is bound to, as UUIDs; undefined: all. */
  readonly projects?: readonly string[] | undefined;
}

/** The port that decides whether a bearer token is valid. A host binds its own. */
export abstract class TokenVerifier {
  /**
   * The principal of a valid token, else undefined. Throws DomainError SERVICE_UNAVAILABLE where it cannot find out.
   */
  abstract verify(token: string): Promise<Principal | undefined>;
}
