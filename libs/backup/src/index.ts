export { backup } from './backup.js';
export type { BackupMetadata } from './backup-file.js';
export { checkBackup, restore } from './restore.js';
