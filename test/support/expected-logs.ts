import { expect } from '@jest/globals';
import type { TimeLogValues } from '../../src/time-log/domain/time-log.js';

type Optional<Values> = {
  [Name in keyof Values as object extends Pick<Values, Name> ? Name : never]-?: Values[Name];
};

/** What each value counts as where it was not sent: written down here, so that the service is held to it. */
const MISSING: Optional<Omit<TimeLogValues, 'attributes'>> = { description: '' };

type Sent = Pick<TimeLogValues, 'projectId'> & Partial<TimeLogValues>;
/** What the service adds. */
export interface Made {
  readonly id: unknown;
  readonly createdAt: unknown;
}
const ANY: Made = { id: expect.any(String), createdAt: expect.any(String) };

/** All values of the log that was sent. */
export function expectedValues(sent: Sent) {
  return { ...MISSING, ...sent, projectId: sent.projectId.toLowerCase() };
}

/** The log that was sent, as it is answered alone and told in events. */
export function expectedLog(sent: Sent, { id, createdAt }: Made = ANY) {
  return { ...expectedValues(sent), id, createdAt };
}

/** The log that was sent, as an item of a list: all but its date. */
export function expectedItem(sent: Sent, made?: Made): object {
  const item: Record<string, unknown> = expectedLog(sent, made);
  delete item.date;
  return item;
}
