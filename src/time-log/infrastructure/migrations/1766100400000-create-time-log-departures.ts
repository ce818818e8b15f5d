import type { MigrationInterface, QueryRunner } from 'typeorm';
import { rejectDown } from '../schema/released.js';
import { replaceFunctions, runText } from '../schema/schema.js';

/** Records which projects logs leave, for the feed of some projects. Only writers wait, for a moment. */
export class CreateTimeLogDepartures1766100400000 implements MigrationInterface {
  readonly name = 'CreateTimeLogDepartures1766100400000';

  async up(runner: QueryRunner): Promise<void> {
    await runText(runner, `set local lock_timeout = '10s'`);
    await replaceFunctions(runner);
  }

  readonly down = rejectDown;
}
