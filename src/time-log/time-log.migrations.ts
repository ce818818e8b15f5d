import { FirstMigration } from './infrastructure/first-migration.js';
import { CreateTimeLogCounts1763769600000 } from './infrastructure/migrations/1763769600000-create-time-log-counts.js';
import { CountTimeLogs1763769700000 } from './infrastructure/migrations/1763769700000-count-time-logs.js';
import { CreateTimeLogKeys1763856000000 } from './infrastructure/migrations/1763856000000-create-time-log-keys.js';
import { GuardCountFunctions1763856100000 } from './infrastructure/migrations/1763856100000-guard-count-functions.js';
import { AddTimeLogPositions1764201600000 } from './infrastructure/migrations/1764201600000-add-time-log-positions.js';
import { IndexTimeLogPositions1764201700000 } from './infrastructure/migrations/1764201700000-index-time-log-positions.js';
import { AddDurationSums1764547200000 } from './infrastructure/migrations/1764547200000-add-duration-sums.js';
import { KeepDurationSums1764547300000 } from './infrastructure/migrations/1764547300000-keep-duration-sums.js';
import { RequireDurationSums1764547400000 } from './infrastructure/migrations/1764547400000-require-duration-sums.js';
import { SumDurations1764547500000 } from './infrastructure/migrations/1764547500000-sum-durations.js';
import { TellChanges1764547700000 } from './infrastructure/migrations/1764547700000-tell-changes.js';
import { AddTimeLogAttributes1764892800000 } from './infrastructure/migrations/1764892800000-add-time-log-attributes.js';
import { StepFromNearerEnd1764979200000 } from './infrastructure/migrations/1764979200000-step-from-nearer-end.js';
import { ReadShiftWithoutBackslash1765065600000 } from './infrastructure/migrations/1765065600000-read-shift-without-backslash.js';
import { LimitDurations1765065700000 } from './infrastructure/migrations/1765065700000-limit-durations.js';

/** The migrations that make their tables, in order. */
export const timeLogMigrations = [
  FirstMigration,
  CreateTimeLogCounts1763769600000,
  CountTimeLogs1763769700000,
  CreateTimeLogKeys1763856000000,
  GuardCountFunctions1763856100000,
  AddTimeLogPositions1764201600000,
  IndexTimeLogPositions1764201700000,
  AddDurationSums1764547200000,
  KeepDurationSums1764547300000,
  RequireDurationSums1764547400000,
  SumDurations1764547500000,
  TellChanges1764547700000,
  AddTimeLogAttributes1764892800000,
  StepFromNearerEnd1764979200000,
  ReadShiftWithoutBackslash1765065600000,
  LimitDurations1765065700000,
];
