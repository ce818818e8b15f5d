import { hash, randomBytes } from 'node:crypto';
import { EntitySchema } from 'typeorm';
import type { Caller } from '../../libs/auth/src/index.js';

/** A stored access token. It has the digest of the token, never the token itself. */
export class AccessToken {
  readonly id!: string;
  readonly name!: string;
  /** The SHA-256 of the token, 32 bytes. */
  readonly digest!: Buffer;
  readonly scopes!: readonly string[];
  /** The projects to which the token is restricted; null means all. */
  readonly projects!: readonly string[] | null;
  /** The attributes to which the token is bound, and its projects: then `projects` is empty, for version 0.2. */
  readonly bound!: TokenBounds | null;
  readonly createdAt!: Date;
  readonly expiresAt!: Date | null;
  readonly revokedAt!: Date | null;
  /** Updated at most once a minute. */
  readonly lastUsedAt!: Date | null;
  /** The SHA-256 of the token before the last rotation, and the end of its validity. */
  readonly previousDigest!: Buffer | null;
  readonly previousUntil!: Date | null;
}

export interface TokenBounds {
  readonly attributes: NonNullable<Caller['attributes']>;
  readonly projects: readonly string[] | null;
}

/** Matches `tl_` and 256 bits in base64url. */
const PATTERN = /^tl_[A-Za-z0-9_-]{43}$/;

/** Returns a new random token. */
export function newToken(): string {
  return `tl_${randomBytes(32).toString('base64url')}`;
}

/** Returns whether the text may be one of our tokens. Other texts are rejected without a query. */
export function hasTokenForm(text: string): boolean {
  return PATTERN.test(text);
}

/** Returns the SHA-256 of a token. Only passwords need a slow hash; a token has 256 random bits. */
export function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Maps the table `access_tokens`. Migrations create the table; a test compares the two. */
export const AccessTokenSchema = new EntitySchema<AccessToken>({
  name: 'AccessToken',
  target: AccessToken,
  tableName: 'access_tokens',
  columns: {
    id: { type: 'uuid', primary: true, primaryKeyConstraintName: 'access_tokens_pkey' },
    name: { type: 'text' },
    digest: { type: 'bytea' },
    scopes: { type: 'text', array: true },
    projects: { type: 'uuid', array: true, nullable: true },
    bound: { type: 'jsonb', nullable: true },
    createdAt: { type: 'timestamptz', precision: 3, name: 'created_at' },
    expiresAt: { type: 'timestamptz', precision: 3, name: 'expires_at', nullable: true },
    revokedAt: { type: 'timestamptz', precision: 3, name: 'revoked_at', nullable: true },
    lastUsedAt: { type: 'timestamptz', precision: 3, name: 'last_used_at', nullable: true },
    previousDigest: { type: 'bytea', name: 'previous_digest', nullable: true },
    previousUntil: { type: 'timestamptz', precision: 3, name: 'previous_until', nullable: true },
  },
  uniques: [
    { name: 'access_tokens_digest_key', columns: ['digest'] },
    { name: 'access_tokens_previous_digest_key', columns: ['previousDigest'] },
  ],
});
