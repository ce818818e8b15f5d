import { Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TimeLogMessagesModule } from 'time-logs/messages';
import { TimeLogMetrics } from 'time-logs/metrics';
import { timeLogMigrations, TimeLogModule } from 'time-logs/time-log';
import { CreateTables1800000000000 } from './create-tables';
import { OperationController } from './operation/operation.controller';
import { BillableHours } from './projects/billable-hours';
import { ProjectsController } from './projects/projects.controller';
import { ProjectsModule } from './projects/projects.module';
import { StaffModule } from './staff/staff.module';
import { AuditEntry } from './time-logs/audit-entry.entity';
import { TicketsController } from './time-logs/tickets.controller';
import { ourTimeLogs, PartnerTimeLogModule, partnerTimeLogs } from './time-logs/time-logs';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...timeLogMigrations, CreateTables1800000000000],
      migrationsRun: true,
    }),
    TypeOrmModule.forRoot({
      name: 'partner',
      type: 'postgres',
      url: process.env.PARTNER_DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...timeLogMigrations],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([AuditEntry]),
    TerminusModule,
    StaffModule,
    ProjectsModule,
    ourTimeLogs,
    partnerTimeLogs,
    TimeLogMessagesModule.over(ourTimeLogs),
    RouterModule.register([
      { path: 'api/v1', module: TimeLogModule },
      { path: 'partner/v1', module: PartnerTimeLogModule },
    ]),
  ],
  controllers: [OperationController, ProjectsController, TicketsController],
  providers: [BillableHours, TimeLogMetrics],
})
export class AppModule {}
