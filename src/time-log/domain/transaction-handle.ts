/** A transaction that a caller begins and ends, as the store knows it: with TypeORM its entity manager. */
export interface TransactionHandle {
  readonly queryRunner?: object | undefined;
}
