import type { MigrationInterface, QueryRunner } from 'typeorm';
import { qualified } from '../../database/index.js';

/** Adds the projects to which a token is restricted. Null means all. It rewrites no row. */
export class BindAccessTokens1764806300000 implements MigrationInterface {
  readonly name = 'BindAccessTokens1764806300000';

  async up(runner: QueryRunner): Promise<void> {
    // While this statement waits for its lock, all other users of the table wait too.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(
      `alter table ${qualified(runner.dataSource, 'access_tokens')} add column projects uuid[]`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table ${qualified(runner.dataSource, 'access_tokens')} drop column projects`);
  }
}
