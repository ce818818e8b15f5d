import { randomUUID } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';
import { LOG } from '../../../../test/support/requests.js';
import { TimeLog, type TimeLogWrites } from '../../../../src/time-log/index.js';
import { HookedWrites } from './hooked-writes.js';
import type { SharedCreates } from './shared-creates.js';

type StoreAlone = Parameters<SharedCreates['add']>[2];

const newLog = () => TimeLog.record(LOG, randomUUID());
/** A store that accepts everything. */
const writes = {
  record: (logs: readonly TimeLog[]) => Promise.resolve(logs),
} as Partial<TimeLogWrites> as TimeLogWrites;

it('takes the turn of a batch with as many logs for a batch with a hook in its transaction', async () => {
  const turns: unknown[] = [];
  const timeLogs = {
    within: () => writes,
    transact: <T>(
      work: (transaction: object) => Promise<T>,
      key?: string,
      caller?: string,
      deadline?: number,
      batch?: number,
    ) => {
      turns.push([key, caller, deadline, batch]);
      return work({});
    },
  };
  const call = { caller: { id: 'ada' } };
  const hooks = { within: () => undefined };
  const hooked = new HookedWrites(writes, timeLogs, hooks, call, false);
  const logs = [newLog(), newLog()];
  const key = { caller: 'ada', text: 'key', fingerprint: '' };
  await hooked.record(logs, { deadline: 7 });
  await hooked.record(logs, { key, deadline: 7 });
  await hooked.record([logs[0]!], { deadline: 7 });
  expect(turns).toEqual([
    [undefined, 'ada', 7, 2],
    ['["ada","key"]', 'ada', 7, 2],
    [undefined, 'ada', 7, undefined],
  ]);
});

it('rolls back a create whose time is over when its hook ends', async () => {
  const late = () => {
    throw new Error('late');
  };
  const shared = {
    add: (_create: unknown, _deadline: unknown, storeAlone: StoreAlone) => storeAlone(5, late),
  };
  const within = jest.fn();
  const transact = jest.fn((work: (transaction: object) => Promise<unknown>) => work({}));
  const timeLogs = { within: () => writes, transact } as never;
  const hooked = new HookedWrites(writes, timeLogs, { within }, {}, false, shared as never);
  await expect(hooked.record([newLog()])).rejects.toThrow('late');
  expect(within).toHaveBeenCalledTimes(1);
  expect(transact.mock.calls[0]?.slice(1)).toEqual([undefined, undefined, 5, undefined]);
});
