export { backup } from './backup.js';
export { connectionOptions, plainOptions } from './connection-options.js';
export { requireDurability } from './durability.js';
export { migrate } from './migrate.js';
export { openDatabase, openDatabaseForCommand, type OpenDatabase } from './open-database.js';
export { checkBackup, restore } from './restore.js';
