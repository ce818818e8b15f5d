import { Test } from '@nestjs/testing';
import { InMemoryTimeLogRepository } from 'time-logs/testing';
import { TimeLogCoreModule, TimeLogRepository, TimeLogService } from 'time-logs/time-log';
import { attributes } from '../time-logs/attributes';
import { BillableHours } from './billable-hours';

const WORK = { projectId: '11111111-1111-1111-1111-111111111111', date: '2026-01-31' };

/** Without a database. */
it('sums what is to be paid for each ticket', async () => {
  const module = await Test.createTestingModule({
    imports: [TimeLogCoreModule.forRoot({ attributes })],
    providers: [BillableHours],
  })
    .overrideProvider(TimeLogRepository)
    .useClass(InMemoryTimeLogRepository)
    .compile();
  const timeLogs = module.get(TimeLogService);
  for (const [duration, ticket, billable] of [
    [1, 'OPS-1', true],
    [2, 'OPS-1', true],
    [4, 'OPS-2', true],
    [8, 'OPS-2', false],
  ] as const)
    await timeLogs.record({ ...WORK, duration, attributes: { ticket, billable } });
  const hours = await module.get(BillableHours).of(WORK.projectId);
  expect([...hours].sort()).toEqual([
    ['OPS-1', 3],
    ['OPS-2', 4],
  ]);
});
