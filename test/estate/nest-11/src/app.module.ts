import { Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from 'time-logs/auth';
import { TimeLogMessagesModule } from 'time-logs/messages';
import { timeLogEntities, timeLogMigrations, TimeLogModule } from 'time-logs/time-log';
import { Approval } from './approval.entity';
import { ApprovalsController } from './approvals.controller';
import { ApprovalsService } from './approvals.service';
import { CreateApprovals1800000000000 } from './create-approvals';
import { StaffTokens } from './staff-tokens';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...timeLogEntities, Approval],
      migrations: [...timeLogMigrations, CreateApprovals1800000000000],
      migrationsRun: true,
    }),
    TypeOrmModule.forFeature([Approval]),
    AuthModule.forRoot({ verifier: new StaffTokens(), realm: 'our-app' }),
    TimeLogModule,
    TimeLogMessagesModule,
    RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
  ],
  controllers: [ApprovalsController],
  providers: [ApprovalsService],
})
export class AppModule {}
