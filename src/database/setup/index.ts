export { connectionOptions, openDataSource, plainOptions } from './data-source.js';
export { codeOf, INSUFFICIENT_PRIVILEGE, messageOf } from './error-message.js';
export { migrate } from './migrate.js';
export { openDatabase, type OpenDatabase } from './open-database.js';
export { requireAllRows } from './requirements.js';
