import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { Snapshot } from './snapshot.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

it('ends a COPY that has begun if its reader waits 30 s for the server', async () => {
  let server!: Readable;
  const client = {
    query: (rows: Readable) => (server = rows),
    end: jest.fn(() => Promise.resolve()),
  };
  const runner = {
    connect: () => Promise.resolve(client),
    query: () => Promise.resolve({ records: [], affected: 0 }),
  };
  const snapshot = await Snapshot.begin(runner as unknown as QueryRunner, 'logs', (statement) => statement());
  const content = snapshot.copy('copy logs to stdout');
  const first = content.next();
  jest.advanceTimersByTime(60_000);
  server.push('a');
  expect((await first).done).toBe(false);
  // The reader takes as long as it likes.
  jest.advanceTimersByTime(60_000);
  const second = content.next();
  jest.advanceTimersByTime(29_999);
  server.push('b');
  expect((await second).done).toBe(false);
  const third = content.next();
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(30_000);
  await expect(third).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    cause: { message: 'the database has sent nothing for 30 s' },
  });
  expect(client.end).toHaveBeenCalled();
  expect(jest.getTimerCount()).toBe(0);
});
