import { randomUUID } from 'node:crypto';
import type { TimeLogValues } from '../../src/time-log/index.js';
import { TimeLog } from './storage.js';

let lastId = 0x019c_1370_0000;

/** Returns a log whose id is greater than all earlier ones. */
export function newLog(values: Partial<TimeLogValues> = {}): TimeLog {
  const time = (++lastId).toString(16).padStart(12, '0');
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
  return TimeLog.record(
    { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31', ...values },
    id,
  );
}
