import type { QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../../database/index.js';

/**
 * To be done where logs have come from another server, such as from a backup, in the same READ COMMITTED transaction or
 * after it: then new logs come after them in the feed.
 */
export async function keepTimeLogPositions(runner: QueryRunner): Promise<void> {
  await runner.query(`select ${qualified(dataSourceOf(runner), 'keep_time_log_positions')}()`);
}
