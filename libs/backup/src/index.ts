export { backup } from './backup.js';
export type { BackupNotes } from './backup-file.js';
export { checkBackup, restore } from './restore.js';
