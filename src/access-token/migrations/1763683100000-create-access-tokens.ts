import type { MigrationInterface, QueryRunner } from 'typeorm';
import { qualified } from '../../database/index.js';
import { AccessToken } from '../access-token.js';

/** Creates the current table in a new database. A database of version 0.3 has it, by migrations of its own. */
export class CreateAccessTokens1763683100000 implements MigrationInterface {
  readonly name = 'CreateAccessTokens1763683100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table ${qualified(runner.dataSource, 'access_tokens', AccessToken)} (
        id uuid not null constraint access_tokens_pkey primary key,
        name text not null,
        digest bytea not null constraint access_tokens_digest_key unique,
        scopes text[] not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        last_used_at timestamptz(3),
        projects uuid[],
        previous_digest bytea constraint access_tokens_previous_digest_key unique,
        previous_until timestamptz(3),
        bound jsonb
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${qualified(runner.dataSource, 'access_tokens', AccessToken)}`);
  }
}
