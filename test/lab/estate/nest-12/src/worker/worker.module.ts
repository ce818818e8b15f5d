import { Module } from '@nestjs/common';
import { TimeLogCoreModule } from 'time-logs/time-log';
import { TimesheetImport } from './timesheet-import.js';

@Module({ providers: [TimesheetImport] })
class TimesheetsModule {}

/** Time logs without HTTP: no Express, no tokens, no DataSource of ours. The app migrates. */
@Module({
  imports: [
    TimeLogCoreModule.forRootAsync({
      isGlobal: true,
      useFactory: () => ({ connection: { url: process.env.DATABASE_URL!, migrate: false } }),
    }),
    TimesheetsModule,
  ],
})
export class WorkerModule {}
