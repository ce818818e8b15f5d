export { Database } from './database.js';
export { DatabaseModule } from './database.module.js';
export { dataSourceOf, fullyQualified, qualified } from './qualified.js';
