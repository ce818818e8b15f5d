export { connectionOptions, plainOptions } from './connection-options.js';
export { Durability } from './durability.js';
export { codeOf, INSUFFICIENT_PRIVILEGE, messageOf } from './error-message.js';
export { migrate } from './migrate.js';
export { openDataSource } from './open-data-source.js';
export {
  type EmbeddedDatabases,
  openDatabase,
  openDatabaseForCommand,
  type OpenDatabase,
} from './open-database.js';
export { requireAllRows } from './row-security.js';
