import type { QueryRunner } from 'typeorm';
import { hasState } from '../../database/index.js';
import { CreateTimeLogs1763683200000 } from './migrations/1763683200000-create-time-logs.js';
import { schemaTaken } from './schema-taken.js';

/** The SQLSTATE for a table, an index or a constraint whose name is taken. */
const DUPLICATE_TABLE = /^42P07$/;

/** The first migration, which is released and stays as it is, with a word for a schema that others have. */
export class FirstMigration extends CreateTimeLogs1763683200000 {
  /** Throws an Error that says what to do where the schema has time logs already. */
  override up(runner: QueryRunner): Promise<void> {
    return super.up(runner).catch((error: unknown) => {
      throw hasState(error, DUPLICATE_TABLE) ? schemaTaken(error) : error;
    });
  }
}
