import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { LOG } from '../../../test/support/requests.js';
import { TimeLog, type TimeLogWrites } from '../../time-log/index.js';
import { HookedWrites } from './hooked-writes.js';

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
