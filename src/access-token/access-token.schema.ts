import { EntitySchema } from 'typeorm';
import { AccessToken } from './access-token.js';

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
