import type { MigrationInterface, QueryRunner } from 'typeorm';
import { qualified } from '../../database/index.js';

/** Adds the earlier secret of a rotated token, and the end of its validity. It rewrites no row. */
export class RotateAccessTokens1766000050000 implements MigrationInterface {
  readonly name = 'RotateAccessTokens1766000050000';

  async up(runner: QueryRunner): Promise<void> {
    // While this statement waits for its lock, all other users of the table wait too.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      `alter table ${qualified(runner.dataSource, 'access_tokens')}
         add column previous_digest bytea constraint access_tokens_previous_digest_key unique,
         add column previous_until timestamptz(3)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table ${qualified(runner.dataSource, 'access_tokens')}
         drop column previous_digest, drop column previous_until`,
    );
  }
}
