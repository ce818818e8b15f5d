/** A stored access token. It has the digest of the token, never the token itself. */
export class AccessToken {
  readonly id!: string;
  readonly name!: string;
  /** The SHA-256 of the token, 32 bytes. */
  readonly digest!: Buffer;
  readonly scopes!: readonly string[];
  /** The projects to which the token is restricted; null means all. */
  readonly projects!: readonly string[] | null;
  readonly createdAt!: Date;
  readonly expiresAt!: Date | null;
  readonly revokedAt!: Date | null;
  /** Updated at most once a minute. */
  readonly lastUsedAt!: Date | null;
}
