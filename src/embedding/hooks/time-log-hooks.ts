import type { EntityManager } from 'typeorm';
import type { Caller } from '../../../libs/auth/src/index.js';
import type { AllTimeLogValues, Attributes, TimeLog, TimeLogValues } from '../../time-log/index.js';

/** A change of a log, as hooks receive it. */
export type TimeLogChange<A extends Attributes = Attributes> =
  | (ChangeOf<A> & {
      readonly kind: 'record';
      /** The checked values of the new log. */
      readonly values: AllTimeLogValues<A>;
      readonly id?: string;
      readonly previous?: undefined;
    })
  | (ChangeOf<A> & {
      readonly kind: 'correct';
      /** The checked values of the corrected log. */
      readonly values: AllTimeLogValues<A>;
      readonly id: string;
    })
  | (ChangeOf<A> & { readonly kind: 'delete'; readonly values?: undefined; readonly id: string });

interface ChangeOf<A extends Attributes> {
  /** In `within`: the stored log, or the deleted one. */
  readonly log?: TimeLog<A>;
  /** In `within`, for corrections and deletions: the log before, read under the lock of its row. */
  readonly previous?: TimeLog<A> | undefined;
  /** The caller; undefined if it is unknown, such as for a call of a service without one. */
  readonly caller?: Partial<Caller> | undefined;
}

/** A change that is written, but not yet committed. */
export type WrittenTimeLogChange<A extends Attributes = Attributes> = TimeLogChange<A> & {
  readonly id: string;
  readonly log: TimeLog<A>;
} & ({ readonly kind: 'record' } | { readonly previous: TimeLog<A> });

// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a method that returns nothing
type Replacement<A extends Attributes> = TimeLogValues<A> | void;

/** The hooks of a host for changes of logs, over HTTP, by messages and by its own code. */
export interface TimeLogHooks<A extends Attributes = Attributes> {
  /**
   * Runs before anything is written, for each log. An error rejects the change and becomes the response. Returned
   * values replace those that were sent, except for missing attributes; our rules and the access of the caller are
   * checked again, the schema of attributes is not. It does not run if an idempotency key has recorded the log already.
   * If the change is part of a transaction of the caller, it must query the database through `manager`: a second
   * connection for each transaction can deadlock the pool.
   */
  before?(change: TimeLogChange<A>, manager?: EntityManager): Replacement<A> | Promise<Replacement<A>>;

  /**
   * Runs after the log was written, in the same transaction, for each log of a batch in order. An error rolls that
   * back. It does not run if an idempotency key has recorded the log already. With it each create has a transaction
   * of its own.
   */
  within?(change: WrittenTimeLogChange<A>, manager: EntityManager): unknown;
}
