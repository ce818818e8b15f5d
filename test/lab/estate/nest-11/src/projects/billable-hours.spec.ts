import { randomUUID } from 'node:crypto';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { timeLogMigrations, TimeLogModule, TimeLogService } from 'time-logs/time-log';
import { attributes } from '../time-logs/attributes';
import { BillableHours } from './billable-hours';

const WORK = { projectId: randomUUID(), date: '2026-01-31' };

const database = TypeOrmModule.forRoot({
  type: 'postgres',
  url: process.env.DATABASE_URL,
  autoLoadEntities: true,
  migrations: [...timeLogMigrations],
  migrationsRun: true,
});

it('sums what is to be paid for each ticket', async () => {
  const module = await Test.createTestingModule({
    imports: [database, TimeLogModule.forRoot({ attributes, caller: () => undefined })],
    providers: [BillableHours],
  }).compile();
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
  await module.close();
});
