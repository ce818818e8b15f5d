export { backup } from './backup.js';
export { connectionOptions, plainOptions } from './connection-options.js';
export { Database } from './database.js';
export { DatabaseModule } from './database.module.js';
export { migrate } from './migrate.js';
export { openDatabase, openDatabaseForCommand, type OpenDatabase } from './open-database.js';
export { fullyQualified, qualified } from './qualified.js';
export { checkBackup, restore } from './restore.js';
