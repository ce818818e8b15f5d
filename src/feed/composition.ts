import { keepTimeLogPositions, unreachedTimeLogPosition } from './infrastructure/keep-time-log-positions.js';

/** What a backup and a restore do for the feed. */
export const feed = { backupMetadata: unreachedTimeLogPosition, afterRestore: keepTimeLogPositions };
