import { keepTimeLogPositions, unreachedTimeLogPosition } from './infrastructure/keep-time-log-positions.js';

/** The steps of a backup and of a restore that keep the feed correct. */
export const feed = { backupMetadata: unreachedTimeLogPosition, afterRestore: keepTimeLogPositions };
