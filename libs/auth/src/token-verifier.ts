/** Who a request acts for. */
export interface Principal {
  /** Stable identifier of the token or subject; never the token itself. */
  readonly id: string;
  readonly scopes: readonly string[];
}

/** The port that decides whether a bearer token is valid. A host binds its own. */
export abstract class TokenVerifier {
  /** The principal of a valid token, else undefined. Throws DomainError SERVICE_UNAVAILABLE where that cannot be told. */
  abstract verify(token: string): Promise<Principal | undefined>;
}
