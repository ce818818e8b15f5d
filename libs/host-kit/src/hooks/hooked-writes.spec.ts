import { expect, it } from '@jest/globals';
import { newLog } from '../contract/new-log.js';
import { InMemoryTimeLogRepository } from '../testing/in-memory-time-log.repository.js';
import { HookedWrites } from './hooked-writes.js';

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
