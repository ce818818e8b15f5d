import { createHash } from 'node:crypto';
import type { TimeLogValues } from './time-log.js';

/** The most characters of a key. */
export const IDEMPOTENCY_KEY_LENGTH = 255;
const PRINTABLE = /^[\x20-\x7e]+$/;

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

/** SHA-256 over the values of a log, in hex: equal for equal values, however they were written. */
export function fingerprintOf({ projectId, duration, description, date }: TimeLogValues): string {
  const values = [projectId.toLowerCase(), duration, description, date];
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
