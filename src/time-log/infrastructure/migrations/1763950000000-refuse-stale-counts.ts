import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countNamesIn } from '../counts/count-layout.js';
import { forgetTimeLogCountsV2 } from '../counts/forget-time-log-counts.v2.js';
import { rebuildTimeLogCountsV2 } from '../counts/rebuild-time-log-counts.v2.js';

/** A rebuild and a TRUNCATE that would change the counts by what they saw too early fail instead. */
export class RefuseStaleCounts1763950000000 implements MigrationInterface {
  readonly name = 'RefuseStaleCounts1763950000000';

  async up(runner: QueryRunner): Promise<void> {
    const names = await countNamesIn(runner);
    for (const text of [forgetTimeLogCountsV2, rebuildTimeLogCountsV2]) await runner.query(text(names));
  }

  async down(): Promise<void> {
    // They go with their table.
  }
}
