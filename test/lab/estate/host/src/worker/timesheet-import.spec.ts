import { randomUUID } from 'node:crypto';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { timeLogMigrations, TimeLogModule, TimeLogService } from 'time-logs/time-log';
import { TimesheetImport } from './timesheet-import.js';

const database = TypeOrmModule.forRoot({
  type: 'postgres',
  url: process.env.DATABASE_URL,
  autoLoadEntities: true,
  migrations: [...timeLogMigrations],
  migrationsRun: true,
});

it('reads a timesheet once', async () => {
  const module = await Test.createTestingModule({
    imports: [database, TimeLogModule.forRoot({ caller: () => undefined })],
    providers: [TimesheetImport],
  }).compile();
  const projectId = randomUUID();
  const lines = [`${projectId},1.5,2026-01-31,plans, and more plans`, `${projectId},2,2026-01-30,`];
  const timesheets = module.get(TimesheetImport);
  expect(await timesheets.read(projectId, lines)).toBe(2);
  expect(await timesheets.read(projectId, lines)).toBe(0);
  await expect(timesheets.read(projectId, ['nothing'])).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(await module.get(TimeLogService).list({ projectIds: [projectId] })).toMatchObject({
    logs: [{ description: 'plans, and more plans' }, { duration: 2 }],
    total: 2,
  });
  await module.close();
});
