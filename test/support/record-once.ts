import { hash } from 'node:crypto';
import type { IdempotencyKey, TimeLog, TimeLogWrites } from '../../src/time-log/index.js';
import { fingerprintOf } from './storage.js';

type Writes = Pick<TimeLogWrites, 'record'>;

/** Records a log with a key. Returns the id of the log of the key. */
export async function recordOnce(writes: Writes, log: TimeLog, key: IdempotencyKey): Promise<string> {
  const [recorded] = await writes.record([log], { key: keyOfLog(log, key) });
  return recorded!.id;
}

/** Records a batch with a key. Returns the ids of the logs of the key. */
export async function recordAllOnce(
  writes: Writes,
  logs: readonly TimeLog[],
  key: IdempotencyKey,
): Promise<string[]> {
  const recorded = await writes.record(logs, { key: keyOfBatch(logs, key) });
  return recorded.map(({ id }) => id);
}

export const keyOfLog = (log: TimeLog, key: IdempotencyKey) => ({ ...key, fingerprint: fingerprintOf(log) });
export const keyOfBatch = (logs: readonly TimeLog[], key: IdempotencyKey) => ({
  ...key,
  fingerprint: hash('sha256', logs.map((log) => fingerprintOf(log)).join()),
});
