import { CountByMonth1766000000000 } from './infrastructure/migrations/1766000000000-count-by-month.js';
import { DropBlockCounts1766000100000 } from './infrastructure/migrations/1766000100000-drop-block-counts.js';
import { CreateTimeLogDepartures1766100400000 } from './infrastructure/migrations/1766100400000-create-time-log-departures.js';
import { KeepIdsOfBatches1766100000000 } from './infrastructure/migrations/1766100000000-keep-ids-of-batches.js';
import { KeepReplacedValues1766100600000 } from './infrastructure/migrations/1766100600000-keep-replaced-values.js';
import { LimitDurations1765065700000 } from './infrastructure/migrations/1765065700000-limit-durations.js';
import { SumByProjectAndPeriod1766100500000 } from './infrastructure/migrations/1766100500000-sum-by-project-and-period.js';
import { migrationsOf } from './infrastructure/schema/released.js';

/** The migrations of time logs, in order. */
export const timeLogMigrations = [
  ...migrationsOf('0.1'),
  ...migrationsOf('0.2'),
  LimitDurations1765065700000,
  CountByMonth1766000000000,
  DropBlockCounts1766000100000,
  KeepIdsOfBatches1766100000000,
  CreateTimeLogDepartures1766100400000,
  SumByProjectAndPeriod1766100500000,
  KeepReplacedValues1766100600000,
];
