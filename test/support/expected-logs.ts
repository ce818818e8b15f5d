import { expect } from '@jest/globals';
import type { TimeLogValues } from '../../src/time-log/domain/time-log.js';

type Optional<Values> = {
  [Name in keyof Values as object extends Pick<Values, Name> ? Name : never]-?: Values[Name];
};

/** The value of each member that was not sent: written here, so that the service is checked against it. */
const MISSING: Optional<Omit<TimeLogValues, 'attributes'>> = { description: '' };

type Sent = Pick<TimeLogValues, 'projectId'> & Partial<TimeLogValues>;
/** The members that the service adds. */
export interface Made {
  readonly id: unknown;
  readonly createdAt: unknown;
}
const ANY: Made = { id: expect.any(String), createdAt: expect.any(String) };

/** All values of the log that was sent. */
export function expectedValues(sent: Sent) {
  return { ...MISSING, ...sent, projectId: sent.projectId.toLowerCase() };
}

/** The log that was sent, as in an answer for one log and in events. */
export function expectedLog(sent: Sent, { id, createdAt }: Made = ANY) {
  return { ...expectedValues(sent), id, createdAt };
}

/** The log that was sent, as an item of a list: all but its date. */
export function expectedItem(sent: Sent, made?: Made): object {
  const item: Record<string, unknown> = expectedLog(sent, made);
  delete item.date;
  return item;
}
