import { MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { dataSourceOf, hasSqlState } from '../database/index.js';
import { createSchema, updateSchema } from './infrastructure/schema/schema.js';
import { schemaTakenError } from './infrastructure/storage-errors.js';

/** The second migration of versions 0.1 to 0.3, and the one of 0.3 that has completed its tables. */
const SECOND_OF_0_1 = 'CreateTimeLogCounts1763769600000';
const TABLES_OF_0_3 = 'KeepReplacedValues1766100600000';
/** The SQLSTATE duplicate_table, also for indexes and constraints. */
const DUPLICATE_TABLE = /^42P07$/;

/** Creates the current schema in a database without time logs. The first migration of 0.1 to 0.3 has this name too. */
class CreateTimeLogs1763683200000 implements MigrationInterface {
  readonly name = 'CreateTimeLogs1763683200000';

  async up(runner: QueryRunner): Promise<void> {
    await createSchema(runner).catch((error: unknown) => {
      throw hasSqlState(error, DUPLICATE_TABLE) ? schemaTakenError(error) : error;
    });
  }

  readonly down = rejectDown;
}

/**
 * Leads the schema of version 0.3 to the current one; a new database has that already. The time in its name makes it
 * run before all other pending migrations, since it refuses a database of 0.1 or 0.2.
 */
class UpdateTimeLogs1763683200001 implements MigrationInterface {
  readonly name = 'UpdateTimeLogs1763683200001';

  async up(runner: QueryRunner): Promise<void> {
    const executed = await new MigrationExecutor(dataSourceOf(runner), runner).getExecutedMigrations();
    const has = (migration: string) => executed.some(({ name }) => name === migration);
    if (has(TABLES_OF_0_3)) await updateSchema(runner);
    else if (has(SECOND_OF_0_1))
      throw new Error(
        'the time logs of this database are from version 0.1 or 0.2, which only version 0.3 can update: start 0.3 with it once, stop that, and start this version again',
      );
  }

  readonly down = rejectDown;
}

/** Rejects because an earlier version could not read the newer counts and feed. */
async function rejectDown(): Promise<void> {
  throw new Error('time logs cannot go back to an earlier version: restore a backup that it has made');
}

/** The migrations of time logs, in order. */
export const timeLogMigrations = [CreateTimeLogs1763683200000, UpdateTimeLogs1763683200001];
