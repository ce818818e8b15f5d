import { expect } from '@jest/globals';
import { LOG } from '../../../support/requests.js';
import { ask } from './ask.js';

/** A service, wherever it listens. */
interface Service {
  readonly url: string;
}

/** Records a log; its id. */
export async function record({ url }: Service): Promise<string> {
  const { status, body } = await ask(`${url}/api/v1/time-logs`, { body: JSON.stringify(LOG) });
  expect(status).toBe(201);
  return (body as { readonly data: { readonly id: string } }).data.id;
}

/** The ids of the events after one, or from the beginning. */
export async function eventsAfter({ url }: Service, lastEventId?: string): Promise<string[]> {
  const query = lastEventId === undefined ? '' : `?lastEventId=${lastEventId}`;
  const { status, body } = await ask(`${url}/api/v1/time-logs/events${query}`);
  expect([status, body]).toEqual([200, expect.any(Array)]);
  return (body as { readonly id: string }[]).map(({ id }) => id);
}

/** The id of the log that an event tells of. */
export const logOf = (eventId: string) => eventId.slice(eventId.indexOf('-') + 1);
