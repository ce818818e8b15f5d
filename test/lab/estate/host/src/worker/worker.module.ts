import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TimeLogModule } from 'time-logs/time-log';
import { TimesheetImport } from './timesheet-import.js';

@Module({ providers: [TimesheetImport] })
class TimesheetsModule {}

/** Time logs without HTTP, so nobody calls their routes. The app migrates. */
@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL, autoLoadEntities: true }),
    TimeLogModule.forRoot({ isGlobal: true, caller: () => undefined }),
    TimesheetsModule,
  ],
})
export class WorkerModule {}
