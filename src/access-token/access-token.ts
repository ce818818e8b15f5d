/** What is kept of a token: never the token itself, only its SHA-256. */
export class AccessToken {
  readonly id!: string;
  readonly name!: string;
  /** SHA-256 of the token, 32 bytes. */
  readonly digest!: Buffer;
  readonly scopes!: readonly string[];
  readonly createdAt!: Date;
  readonly expiresAt!: Date | null;
  readonly revokedAt!: Date | null;
  /** Written at most once a minute. */
  readonly lastUsedAt!: Date | null;
}
