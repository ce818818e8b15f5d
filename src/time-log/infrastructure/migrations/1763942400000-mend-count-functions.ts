import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { countTimeLogsV1 } from '../counts/count-time-logs.v1.js';
import { rebuildTimeLogCountsV1 } from '../counts/rebuild-time-log-counts.v1.js';

/**
 * Version 0.1 made the functions that write counts with a SET that only a superuser may give them: databases of it get
 * what new ones have from the beginning. Whoever owns the functions may do this.
 */
export class MendCountFunctions1763942400000 implements MigrationInterface {
  readonly name = 'MendCountFunctions1763942400000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const text of [countTimeLogsV1, rebuildTimeLogCountsV1]) await runner.query(text(names));
  }

  async down(): Promise<void> {
    // They go with their table.
  }
}
