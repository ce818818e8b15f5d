import { hash, randomUUID } from 'node:crypto';
import {
  type IdempotencyKey,
  TimeLog,
  type TimeLogValues,
  type TimeLogWrites,
} from '../../src/time-log/index.js';
import { fingerprintOf } from '../../src/time-log/domain/fingerprints.js';

let lastId = 0x019c_1370_0000;

/** Returns a log whose id is greater than all earlier ones. */
export function newLog(values: Partial<TimeLogValues> = {}): TimeLog {
  const time = (++lastId).toString(16).padStart(12, '0');
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
  return TimeLog.of(
    { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31', ...values },
    id,
  );
}

type Writes = Pick<TimeLogWrites, 'record'>;

/** Records a log with a key. Returns the id of the log of the key. */
export async function recordOnce(writes: Writes, log: TimeLog, key: IdempotencyKey): Promise<string> {
  const { logs } = await writes.record([log], { key: keyOfLog(log, key) });
  return logs[0]!.id;
}

/** Records a batch with a key. Returns the ids of the logs of the key. */
export async function recordAllOnce(
  writes: Writes,
  logs: readonly TimeLog[],
  key: IdempotencyKey,
): Promise<string[]> {
  const { logs: recorded } = await writes.record(logs, { key: keyOfBatch(logs, key) });
  return recorded.map(({ id }) => id);
}

export const keyOfLog = (log: TimeLog, key: IdempotencyKey) => ({ ...key, fingerprint: fingerprintOf(log) });
export const keyOfBatch = (logs: readonly TimeLog[], key: IdempotencyKey) => ({
  ...key,
  fingerprint: hash('sha256', logs.map((log) => fingerprintOf(log)).join()),
});

/** Texts with a meaning of their own in SQL, JSON, CSV or arrays of PostgreSQL, and unusual characters. */
export const TEXTS = [
  ...['', ' ', ' a ', ' \t\r\n\u00a0\u2028 ', '\n', '\r\n', 'null', 'NULL', '{}', '{"a":1}', '"', '""', "'"],
  ...['\\', '\\"', '\\.', '\\u0000', '\\x00', ',', '=1+1', '__proto__', '$1', '"},{"id":"'],
  `'; drop table x; -- $1 \\ \\x00 %s {"a"} E'\\n'`,
  '\u0001\u001f\u007f\u0080',
  '\u2028\u2029\ufeff\ufffe\uffff',
  'é e\u0301 😀 \u{10ffff} עברית \u202e',
];

/** All characters up to U+2100, and 5000 outside the BMP. */
export const LONG_TEXTS = [
  ...(Array.from({ length: 0x2100 }, (_, code) => String.fromCodePoint(code + 1))
    .join('')
    .match(/[^]{1,4000}/g) ?? []),
  '😀'.repeat(5000),
];

const { EPSILON, MAX_SAFE_INTEGER, MAX_VALUE, MIN_VALUE } = Number;
/** Numbers on both sides of each change of their decimal form, and with 15 to 17 digits. */
export const NUMBERS = [
  ...[MIN_VALUE, 2.2250738585072014e-308, EPSILON, 1e-7, 1.5e-7, 5e-7, 9.99e-7, 1e-6, 1.5e-6],
  ...[0.1, 0.1 + 0.2, 1 / 3, 1.5, 10, 100, 123456789.123456789, 123456789012345, 1e15, 1234567890123456],
  ...[MAX_SAFE_INTEGER, 2 ** 53 + 2, 1e20, 999999999999999900000, 1e21, 1.5e21, 1e23, MAX_VALUE],
];

/** The values of a log, and for each of them another one. */
export const VALUES = { duration: 1, description: '', date: '2026-01-31' };
export const DIFFERENCES: readonly [string, Partial<TimeLogValues>][] = [
  ['projectId', { projectId: '11111111-1111-1111-1111-111111111112' }],
  ['duration', { duration: 1.0000000000000002 }],
  ['description', { description: ' ' }],
  ['date', { date: '2026-02-01' }],
];
