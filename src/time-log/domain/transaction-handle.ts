/**
 * A transaction that a caller has begun and will end, in the form that the store knows: with TypeORM the manager of the
 * transaction. Nothing else looks into it.
 */
export interface TransactionHandle {
  readonly queryRunner?: object | undefined;
}
