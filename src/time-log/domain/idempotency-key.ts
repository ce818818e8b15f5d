import { hash } from 'node:crypto';
import { DomainError, type ErrorKind } from '../../../libs/errors/src/domain-error.js';
import { inputOf } from './attribute-input.js';
import { canonicalJson } from './json.js';
import { type FieldTable, normalizedValues, TIME_LOG_FIELDS, type TimeLogValues } from './time-log.js';

/** The key has made a log of other values. */
export const IDEMPOTENCY_KEY_REUSED: ErrorKind = {
  code: 'IDEMPOTENCY_KEY_REUSED',
  status: 422,
  message: 'the Idempotency-Key was used with other values',
};

/** The most characters of a key. */
export const IDEMPOTENCY_KEY_LENGTH = 255;
/**
 * A header's value has no space at its ends (RFC 9110, section 5.5). So keys from elsewhere must not have one either.
 */
const PRINTABLE = /^(?! )[\x20-\x7e]+(?<! )$/;

const OF_NOBODY = 'Idempotency-Key is only for callers with an id';

/** Marks retries of one create: whoever repeats a key within 24 hours gets the log that it made. */
export interface IdempotencyKey {
  /** Its owner: the same text of another caller is another key. */
  readonly caller: string;
  readonly text: string;
}

/** What is wrong with the text of a key, or undefined. */
export function idempotencyKeyFault(value: unknown): string | undefined {
  const isKey = typeof value === 'string' && value.length <= IDEMPOTENCY_KEY_LENGTH && PRINTABLE.test(value);
  return isKey
    ? undefined
    : `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`;
}

/**
 * The key of a caller with this id. Throws DomainError VALIDATION_ERROR where it has none: the same text of others must
 * be another key.
 */
export function keyOf(caller: string | undefined, text: string): IdempotencyKey {
  if (caller !== undefined) return { caller, text };
  throw new DomainError('VALIDATION_ERROR', OF_NOBODY);
}

/** Throws DomainError VALIDATION_ERROR where the code of a host gives something that is no key. */
export function requireKey(key: unknown): void {
  const { caller, text } = (key ?? {}) as Partial<Record<keyof IdempotencyKey, unknown>>;
  const isOfSomebody = typeof caller === 'string' && caller !== '';
  const fault = isOfSomebody ? idempotencyKeyFault(text) : OF_NOBODY;
  if (fault !== undefined) throw new DomainError('VALIDATION_ERROR', fault);
}

/** The values of version 0.1. */
const FIRST = ['projectId', 'duration', 'description', 'date'];

/**
 * SHA-256 over the values of a log, in hex. Equal values give the same result, in any spelling and in every version of
 * the service. The values of version 0.1 are a list. Later values follow with their names, and only if they differ from
 * their defaults: so a retry of a request that an older version answered gets the same answer after the upgrade. Of
 * attributes it is what was sent that counts.
 */
export function fingerprintOf(values: TimeLogValues, fields: FieldTable = TIME_LOG_FIELDS): string {
  const parts: unknown[] = [];
  for (const [name, value] of Object.entries(normalizedValues(values, fields))) {
    if (name === 'attributes') continue;
    if (FIRST.includes(name)) parts.push(value);
    else if (value !== fields[name]!.default) parts.push([name, value]);
  }
  const attributes = inputOf(values);
  if (attributes !== undefined) parts.push(['attributes', canonicalJson(attributes)]);
  return hash('sha256', JSON.stringify(parts));
}
