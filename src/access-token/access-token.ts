/** What the service stores of a token: its SHA-256, never the token itself. */
export class AccessToken {
  readonly id!: string;
  readonly name!: string;
  /** SHA-256 of the token, 32 bytes. */
  readonly digest!: Buffer;
  readonly scopes!: readonly string[];
  /** Those that the token is bound to; null: all. */
  readonly projects!: readonly string[] | null;
  readonly createdAt!: Date;
  readonly expiresAt!: Date | null;
  readonly revokedAt!: Date | null;
  /** Updated at most once a minute. */
  readonly lastUsedAt!: Date | null;
}
