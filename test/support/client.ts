import { expect } from '@jest/globals';
import { type NewTimeLog, TimeLogError } from '../../libs/time-log-client/src/index.js';

/** A log that a client sends, and the same as the service lists and returns it. */
export const NEW_LOG: NewTimeLog = {
  projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  duration: 1.5,
  description: 'Wrote tests',
  date: '2026-01-31',
};
export const ITEM = {
  id: '019c1363-4a3b-7245-b697-5dec9f548a52',
  projectId: NEW_LOG.projectId,
  duration: 1.5,
  description: 'Wrote tests',
  createdAt: '2026-01-31T09:30:00.123Z',
};
export const RECORDED = { ...ITEM, date: NEW_LOG.date };

/** Returns the error with which a call rejects. */
export async function failure(call: Promise<unknown>): Promise<TimeLogError> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TimeLogError);
  return error as TimeLogError;
}

/** The clock and the random numbers of a client. Time passes only while nothing else can happen. */
export class FakeClock {
  randomValue = 0;

  constructor(private time = 0) {}

  readonly now = () => this.time;
  readonly random = () => this.randomValue;
  readonly schedule = (callback: () => void, milliseconds: number) => {
    const timer = setImmediate(() => {
      this.time += milliseconds;
      callback();
    });
    return () => clearImmediate(timer);
  };
}
