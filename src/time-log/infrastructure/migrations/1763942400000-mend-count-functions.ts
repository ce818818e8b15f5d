import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countFunctions } from './1763769600000-create-time-log-counts.js';

/**
 * Version 0.1 made the functions that write counts with a SET that only a superuser may give them: databases of it get
 * what new ones have from the beginning. Whoever owns the functions may do this.
 */
export class MendCountFunctions1763942400000 implements MigrationInterface {
  readonly name = 'MendCountFunctions1763942400000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of await countFunctions(runner)) await runner.query(statement);
  }

  async down(): Promise<void> {
    // They go with their table.
  }
}
