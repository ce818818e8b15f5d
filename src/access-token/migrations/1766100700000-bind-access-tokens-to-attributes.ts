import type { MigrationInterface, QueryRunner } from 'typeorm';
import { qualified } from '../../database/index.js';

/** Adds the attributes, with the projects, to which a token is bound. It rewrites no row. */
export class BindAccessTokensToAttributes1766100700000 implements MigrationInterface {
  readonly name = 'BindAccessTokensToAttributes1766100700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`alter table ${qualified(runner.dataSource, 'access_tokens')} add column bound jsonb`);
  }

  down(): Promise<void> {
    // Without the column nobody would know what a token was bound to.
    throw new Error('access tokens cannot go back to an earlier version: restore a backup that it has made');
  }
}
