import { expect, it, jest } from '@jest/globals';
import { TimeLog } from '../domain/time-log.js';
import { KeyedTimeLogWrites } from './keyed-time-log-writes.js';

const values = { projectId: '00000000-0000-0000-0000-000000000000', duration: 1, date: '2026-01-31' };
const log = TimeLog.record(values, '019c1370-4e1b-7000-8000-000000000001');
const key = { caller: 'ada', text: 'key' };

it('waits for its turn within the rest of the deadline when a key in use makes it try again', async () => {
  const limits = { batch: 1, queue: 1, wait: 60_000 };
  const writes = new KeyedTimeLogWrites({} as never, {} as never, {} as never, limits, '', () => undefined);
  const rests: (number | undefined)[] = [];
  const attempt = <T>(outcome: T) => {
    const isInUse = rests.length % 2 === 1;
    return Promise.resolve(isInUse ? undefined : outcome);
  };
  jest.spyOn(writes.writes, 'add').mockImplementation((_keyed, rest) => {
    rests.push(rest);
    return attempt(log.id);
  });
  const turn = <T>(_write: () => Promise<T>, rest?: number) => {
    rests.push(rest);
    return attempt([log.id]) as Promise<T>;
  };
  await writes.add(log, key, 60_000);
  await writes.addAll([log], key, turn, 60_000);
  await writes.add(log, key);
  const [first, second, third, fourth, ...unlimited] = rests as number[];
  expect([second! < first!, fourth! < third!, unlimited]).toEqual([true, true, [undefined, undefined]]);
});
