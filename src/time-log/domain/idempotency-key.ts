import {
  type ErrorKind,
  type Fault,
  faultOf,
  throwFaults,
  validationError,
} from '../../../libs/errors/src/domain-error.js';
import { textFault } from './time-log.rules.js';

/** The error for a key that was used with other values. */
export const IDEMPOTENCY_KEY_REUSED: ErrorKind = {
  code: 'IDEMPOTENCY_KEY_REUSED',
  status: 422,
  message: 'the Idempotency-Key was used with other values',
};

/** The maximum number of characters of a key. */
const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
/** Keys have no space at their ends, since HTTP strips it from headers (RFC 9110, section 5.5). */
const PRINTABLE_ASCII = /^(?! )[\x20-\x7e]+(?<! )$/;

const NAME = 'Idempotency-Key';
const CALLER_ID_REQUIRED = faultOf(NAME, null, 'caller', 'is only for callers with an id');

/** A key that marks the retries of a create or a batch. During its lifetime they get the logs of the first one. */
export interface IdempotencyKey {
  /** The id of the owner. The same text of another caller is another key. */
  readonly caller: string;
  readonly text: string;
}

/** A key with the fingerprint of the values that were sent with it, in hex. */
export interface RequestKey extends IdempotencyKey {
  readonly fingerprint: string;
}

/** Returns a text that is different for each key of each caller. */
export function mapKeyOf({ caller, text }: IdempotencyKey): string {
  return JSON.stringify([caller, text]);
}

/** Returns the fault of the text of a key, or undefined. */
export function idempotencyKeyFault(value: unknown): Fault | undefined {
  const max = MAX_IDEMPOTENCY_KEY_LENGTH;
  if (typeof value === 'string' && value.length <= max && PRINTABLE_ASCII.test(value)) return undefined;
  return faultOf(NAME, value, 'characters', `must be 1 to ${max} printable ASCII characters`, {
    min: 1,
    max,
  });
}

/** Returns the key of a caller with an id. Throws DomainError VALIDATION_ERROR without an id: keys need an owner. */
export function idempotencyKeyOf(caller: string | undefined, text: string): IdempotencyKey {
  if (caller !== undefined) return { caller, text };
  throw validationError([CALLER_ID_REQUIRED]);
}

/** Throws DomainError VALIDATION_ERROR if the code of a host passes an invalid key. */
export function requireIdempotencyKey({ caller, text }: IdempotencyKey): void {
  if (!caller) throw validationError([CALLER_ID_REQUIRED]);
  const fault = textFault(caller);
  if (fault !== undefined) throwFaults([faultOf(NAME, caller, 'caller', `has a caller whose id ${fault}`)]);
  throwFaults([idempotencyKeyFault(text)]);
}
