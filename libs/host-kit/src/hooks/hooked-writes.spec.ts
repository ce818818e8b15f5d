import { expect, it, jest } from '@jest/globals';
import { newLog } from '../contract/new-log.js';
import { InMemoryTimeLogRepository } from '../testing/in-memory-time-log.repository.js';
import { HookedWrites } from './hooked-writes.js';
import type { SharedCreates } from './shared-creates.js';

type StoreAlone = Parameters<SharedCreates['add']>[2];

it('takes the turn of a batch with as many logs for a batch with a hook in its transaction', async () => {
  const turns: unknown[] = [];
  const timeLogs = {
    within: () => new InMemoryTimeLogRepository(),
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
  const writes = new HookedWrites(new InMemoryTimeLogRepository(), timeLogs, hooks, call, false);
  const logs = [newLog(), newLog()];
  await writes.addAll(logs, 'ada', 7);
  await writes.addAllOnce(logs, { caller: 'ada', text: 'key' }, 'ada', 7);
  await writes.add(logs[0]!, 7);
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
  const timeLogs = new InMemoryTimeLogRepository();
  const within = jest.fn();
  const transact = jest.spyOn(timeLogs, 'transact');
  const writes = new HookedWrites(timeLogs, timeLogs, { within }, {}, false, shared as never);
  await expect(writes.add(newLog())).rejects.toThrow('late');
  expect(within).toHaveBeenCalledTimes(1);
  expect(transact.mock.calls[0]?.slice(1)).toEqual([undefined, undefined, 5, undefined]);
});
