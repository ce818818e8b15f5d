import type { MigrationInterface, QueryRunner } from 'typeorm';
import { qualified } from '../../database/index.js';

export class CreateAccessTokens1763683100000 implements MigrationInterface {
  readonly name = 'CreateAccessTokens1763683100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table ${qualified(runner.dataSource, 'access_tokens')} (
        id uuid not null constraint access_tokens_pkey primary key,
        name text not null,
        digest bytea not null constraint access_tokens_digest_key unique,
        scopes text[] not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        last_used_at timestamptz(3)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${qualified(runner.dataSource, 'access_tokens')}`);
  }
}
