import type { MigrationInterface, QueryRunner } from 'typeorm';
import { qualified } from '../../database/index.js';

/** The projects that a token is bound to; null: all, as for every token of before. It rewrites no row. */
export class BindAccessTokens1764806300000 implements MigrationInterface {
  readonly name = 'BindAccessTokens1764806300000';

  async up(runner: QueryRunner): Promise<void> {
    // Everybody waits behind a column that waits for its lock.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      `alter table ${qualified(runner.dataSource, 'access_tokens')} add column projects uuid[]`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table ${qualified(runner.dataSource, 'access_tokens')} drop column projects`);
  }
}
