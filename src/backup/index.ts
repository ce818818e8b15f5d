export { backup } from './backup.js';
export { checkBackup, restore } from './restore.js';
