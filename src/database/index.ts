export { OutageLatch } from './outage-latch.js';
export { Database, type Statements } from './database.js';
export { DatabaseModule, databaseOf, registerEntities } from './database.module.js';
export { LoneChange } from './lone-changes.js';
export { PreparedStatement, type TextRow, TextStatement } from './prepared-statements.js';
export { RAISE_SYNCHRONOUS_COMMIT, type TransactionOptions } from './transaction.js';
export {
  hasState,
  isOfConstraint,
  isOfForeignKey,
  isOfTable,
  isRefusalOfRow,
  isUnknownRoutine,
} from './unavailability.js';
export { dataSourceOf, fullyQualified, qualified } from './qualified.js';
