import { FirstMigration } from './infrastructure/first-migration.js';
import { CreateTimeLogCounts1763769600000 } from './infrastructure/migrations/1763769600000-create-time-log-counts.js';
import { CountTimeLogs1763769700000 } from './infrastructure/migrations/1763769700000-count-time-logs.js';
import { CreateTimeLogKeys1763856000000 } from './infrastructure/migrations/1763856000000-create-time-log-keys.js';
import { GuardCountFunctions1763856100000 } from './infrastructure/migrations/1763856100000-guard-count-functions.js';
import { MendCountFunctions1763942400000 } from './infrastructure/migrations/1763942400000-mend-count-functions.js';
import { RefuseStaleCounts1763950000000 } from './infrastructure/migrations/1763950000000-refuse-stale-counts.js';
import { CreateTimeLogPageV21764028800000 } from './infrastructure/migrations/1764028800000-create-time-log-page-v2.js';
import { FoldTimeLogCounts1764115200000 } from './infrastructure/migrations/1764115200000-fold-time-log-counts.js';
import { AddTimeLogPositions1764201600000 } from './infrastructure/migrations/1764201600000-add-time-log-positions.js';
import { IndexTimeLogPositions1764201700000 } from './infrastructure/migrations/1764201700000-index-time-log-positions.js';
import { CountPeriods1764374400000 } from './infrastructure/migrations/1764374400000-count-periods.js';
import { MoveTimeLogPositions1764460800000 } from './infrastructure/migrations/1764460800000-move-time-log-positions.js';
import { AddDurationSums1764547200000 } from './infrastructure/migrations/1764547200000-add-duration-sums.js';
import { KeepDurationSums1764547300000 } from './infrastructure/migrations/1764547300000-keep-duration-sums.js';
import { RequireDurationSums1764547400000 } from './infrastructure/migrations/1764547400000-require-duration-sums.js';
import { SumDurations1764547500000 } from './infrastructure/migrations/1764547500000-sum-durations.js';
import { TellCorrections1764547600000 } from './infrastructure/migrations/1764547600000-tell-corrections.js';
import { CreateFunctionsOfSeveralProjects1764806400000 } from './infrastructure/migrations/1764806400000-create-functions-of-several-projects.js';
import { AddTimeLogAttributes1764892800000 } from './infrastructure/migrations/1764892800000-add-time-log-attributes.js';
import { DropTimeLogs1764979200000 } from './infrastructure/migrations/1764979200000-drop-time-logs.js';

/** The migrations that make their tables, in order. */
export const timeLogMigrations = [
  FirstMigration,
  CreateTimeLogCounts1763769600000,
  CountTimeLogs1763769700000,
  CreateTimeLogKeys1763856000000,
  GuardCountFunctions1763856100000,
  MendCountFunctions1763942400000,
  RefuseStaleCounts1763950000000,
  CreateTimeLogPageV21764028800000,
  FoldTimeLogCounts1764115200000,
  AddTimeLogPositions1764201600000,
  IndexTimeLogPositions1764201700000,
  CountPeriods1764374400000,
  MoveTimeLogPositions1764460800000,
  AddDurationSums1764547200000,
  KeepDurationSums1764547300000,
  RequireDurationSums1764547400000,
  SumDurations1764547500000,
  TellCorrections1764547600000,
  CreateFunctionsOfSeveralProjects1764806400000,
  AddTimeLogAttributes1764892800000,
  DropTimeLogs1764979200000,
];
