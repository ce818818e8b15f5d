import { expect, it, jest } from '@jest/globals';
import { TimeLog } from '../domain/time-log.js';
import { TimeLogCreates } from './time-log-creates.js';

const values = { projectId: '00000000-0000-0000-0000-000000000000', duration: 1, date: '2026-01-31' };
const log = TimeLog.record(values, '019c1370-4e1b-7000-8000-000000000001');
const key = { caller: 'ada', text: 'key', fingerprint: '' };

it('waits for its turn within the rest of the deadline when a key in use makes it try again', async () => {
  const limits = { queue: 1, wait: 60_000 };
  const creates = new TimeLogCreates({} as never, {} as never, limits, '', () => undefined);
  const rests: (number | undefined)[] = [];
  const attempt = <T>(outcome: T) => {
    const isInUse = rests.length % 2 === 1;
    return Promise.resolve(isInUse ? undefined : outcome);
  };
  jest.spyOn(creates.keyed, 'add').mockImplementation((_create, rest) => {
    rests.push(rest);
    return attempt([log]);
  });
  jest.spyOn(creates.batches, 'run').mockImplementation((_caller, _write, { wait } = {}) => {
    rests.push(wait);
    return attempt<never>([log, log] as never);
  });
  await creates.record([log], { key, deadline: 60_000 });
  await creates.record([log, log], { key, deadline: 60_000 });
  await creates.record([log], { key });
  const [first, second, third, fourth, ...unlimited] = rests as number[];
  expect([second! < first!, fourth! < third!, unlimited]).toEqual([true, true, [undefined, undefined]]);
});
