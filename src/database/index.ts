export { OutageLatch } from './outage-latch.js';
export { Database, type Statements } from './database.js';
export { DatabaseModule, databaseProvider, registerEntities } from './database.module.js';
export { AutocommitStatement } from './autocommit.js';
export { PreparedStatement, type TextRow, TextStatement } from './prepared-statements.js';
export { RAISE_SYNCHRONOUS_COMMIT, type TransactionOptions } from './transaction.js';
export {
  hasSqlState,
  isConstraintViolation,
  isForeignKeyViolation,
  concernsTable,
  isRowError,
  isUndefinedFunction,
} from './unavailability.js';
export { dataSourceOf, fullyQualified, qualified } from './qualified.js';
