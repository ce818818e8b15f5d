import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TimeLogCoreModule } from 'time-logs/time-log';
import { TimesheetImport } from './timesheet-import.js';

/** Time logs without HTTP: no Express, no tokens. */
@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL, autoLoadEntities: true }),
    TimeLogCoreModule.forRoot({}),
  ],
  providers: [TimesheetImport],
})
export class WorkerModule {}
