import type { MigrationInterface, QueryRunner } from 'typeorm';
import { fullyQualified } from '../../../database/index.js';

/**
 * The trigger functions that keep the counts run with the rights of their owner: nobody else may bind them to a table of
 * his own, and so write counts. Those who write logs need no right to execute them (PostgreSQL, CREATE TRIGGER).
 */
export class GuardCountFunctions1763856100000 implements MigrationInterface {
  readonly name = 'GuardCountFunctions1763856100000';

  async up(runner: QueryRunner): Promise<void> {
    for (const name of await functionsIn(runner)) {
      await runner.query(`revoke execute on function ${name}() from public`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of await functionsIn(runner)) {
      await runner.query(`grant execute on function ${name}() to public`);
    }
  }
}

async function functionsIn(runner: QueryRunner): Promise<string[]> {
  return [
    await fullyQualified(runner, 'count_time_logs'),
    await fullyQualified(runner, 'forget_time_log_counts'),
  ];
}
