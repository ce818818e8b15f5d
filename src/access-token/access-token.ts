/** What a token is good for where nothing else is said. */
export const TIME_LOG_SCOPES = ['time-logs:read', 'time-logs:write'] as const;
/** What a token may be good for. */
export const SCOPES = [...TIME_LOG_SCOPES, 'metrics:read'] as const;
export type Scope = (typeof SCOPES)[number];

/** What is kept of a token: never the token itself, only its SHA-256. */
export class AccessToken {
  readonly id!: string;
  readonly name!: string;
  /** SHA-256 of the token, 32 bytes. */
  readonly digest!: Buffer;
  readonly scopes!: readonly Scope[];
  readonly createdAt!: Date;
  readonly expiresAt!: Date | null;
  readonly revokedAt!: Date | null;
  /** Written at most once a minute. */
  readonly lastUsedAt!: Date | null;
}
