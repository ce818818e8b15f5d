import type { Access } from '../domain/access.js';
import type { Transaction } from '../domain/transaction.js';

/** Who asks for a change, as a guard or a principal knows it. */
export interface TimeLogCaller {
  readonly id?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
}

/** For whom a log is changed, and as a part of what. */
export interface Call {
  readonly access: Access;
  readonly caller?: TimeLogCaller | undefined;
  /** Of whoever asks: the change is committed or rolled back with it. */
  readonly transaction?: Transaction | undefined;
}
