export { Database, type Statements } from './database.js';
export { DatabaseModule, databaseProvider, registerEntities } from './database.module.js';
export { PreparedStatement, type ReadLimit, restOf, type TextRow, TextStatement } from './statements.js';
export { type Snapshot } from './snapshot.js';
export { OutageLatch } from './outages.js';
export { rollBack } from './transaction.js';
export {
  hasSqlState,
  isConstraintViolation,
  isForeignKeyViolation,
  concernsTable,
  isRowError,
  isUndefinedFunction,
} from './unavailability.js';
export { dataSourceOf, fullyQualified, qualified } from './qualified.js';
