import { Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TimeLogMessagesModule } from 'time-logs/messages';
import { timeLogMigrations, TimeLogModule } from 'time-logs/time-log';
import { Approval } from './approval.entity.js';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalsService } from './approvals.service.js';
import { CreateApprovals1800000000000 } from './create-approvals.js';
import { callerOf, StaffGuard } from './staff.guard.js';

const timeLogs = TimeLogModule.forRoot({ guard: StaffGuard, principal: callerOf });

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      autoLoadEntities: true,
      migrations: [...timeLogMigrations, CreateApprovals1800000000000],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([Approval]),
    timeLogs,
    TimeLogMessagesModule.over(timeLogs),
    RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
  ],
  controllers: [ApprovalsController],
  providers: [ApprovalsService],
})
export class AppModule {}
