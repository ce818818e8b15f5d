import { Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventRelayModule, eventRelayMigrations } from 'time-logs/events';
import { TimeLogMessagesModule } from 'time-logs/messages';
import { timeLogMigrations, TimeLogModule } from 'time-logs/time-log';
import { Approval } from './approvals/approval.entity.js';
import { ApprovalsController } from './approvals/approvals.controller.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { CreateTables1800000000000 } from './create-tables.js';
import { ProjectsModule } from './projects/projects.module.js';
import { HoursSink } from './reports/hours.sink.js';
import { ReportsController } from './reports/reports.controller.js';
import { TicketsController } from './reports/tickets.controller.js';
import { StaffGuard, toCaller } from './staff/staff.guard.js';
import { attributes } from './time-logs/attributes.js';
import { AuditEntry } from './time-logs/audit-entry.entity.js';
import { ProjectHooks } from './time-logs/project.hooks.js';

const timeLogs = TimeLogModule.forRoot({
  guard: StaffGuard,
  caller: toCaller,
  hooks: ProjectHooks,
  imports: [ProjectsModule],
  attributes,
});

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...timeLogMigrations, ...eventRelayMigrations, CreateTables1800000000000],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([Approval, AuditEntry]),
    ProjectsModule,
    timeLogs,
    TimeLogMessagesModule.over(timeLogs),
    EventRelayModule.over(timeLogs, { useClass: HoursSink }),
    RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
  ],
  controllers: [ApprovalsController, ReportsController, TicketsController],
  providers: [ApprovalsService],
})
export class AppModule {}
