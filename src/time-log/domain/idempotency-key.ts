import { createHash } from 'node:crypto';
import { type FieldTable, keptValues, TIME_LOG_FIELDS, type TimeLogValues } from './time-log.js';

/** The most characters of a key. */
export const IDEMPOTENCY_KEY_LENGTH = 255;
/** A space at an end is no part of a header's value (RFC 9110, section 5.5), so it can be none of a key that comes otherwise. */
const PRINTABLE = /^(?! )[\x20-\x7e]+(?<! )$/;

/** What makes a retry of a create known as one: whoever repeats a key within 24 hours gets the log that it made. */
export interface IdempotencyKey {
  /** Whose key it is: the same text of somebody else is another key. */
  readonly principal: string;
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
 * SHA-256 over the values of a log, in hex: equal for equal values, however they were written, and in every version. The
 * values of version 0.1 are a list. What came later follows with its name, and only where it is not the default: a
 * request that an older version has answered gets the same answer again after the upgrade.
 */
export function fingerprintOf(values: TimeLogValues, fields: FieldTable = TIME_LOG_FIELDS): string {
  const parts: unknown[] = [];
  for (const [name, value] of Object.entries(keptValues(values, fields))) {
    const { default: usual } = fields[name]!;
    if (usual === undefined) parts.push(value);
    else if (value !== usual) parts.push([name, value]);
  }
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
