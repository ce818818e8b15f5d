import { expect, it } from '@jest/globals';
import type { IdempotencyKey, TimeLog } from '../../../../src/time-log/index.js';
import { newLog } from '../contract/new-log.js';
import { SharedCreates } from './shared-creates.js';

it.each([
  ['ada', 'bob'],
  ['bob', 'ada'],
])('stores the keys of %s and %s in one order, so that two instances never deadlock', async (...callers) => {
  const stored: string[] = [];
  const writes = {
    addAll: () => Promise.resolve(),
    addOnce: (log: TimeLog, key: IdempotencyKey) => {
      stored.push(key.caller);
      return Promise.resolve(log.id);
    },
  };
  const timeLogs = { within: () => writes, transact: (work: (transaction: object) => unknown) => work({}) };
  const hooks = { batched: true, within: () => undefined } as const;
  const creates = new SharedCreates(timeLogs as never, hooks, { queue: 10, wait: 10_000 });
  const keys = callers.map((caller) => ({ caller, text: 'key' }));
  // The first one starts a transaction of its own.
  await Promise.all([undefined, ...keys].map((key) => creates.add({ log: newLog(), key: key!, call: {} })));
  expect(stored).toEqual(['ada', 'bob']);
});
