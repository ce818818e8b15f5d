import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { APP_FILTER, RouterModule } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DomainErrorFilter } from 'time-logs/errors';
import { EventRelayModule, eventRelayMigrations } from 'time-logs/events';
import { TimeLogMessagesModule } from 'time-logs/messages';
import { timeLogMigrations, TimeLogModule } from 'time-logs/time-log';
import { Approval } from './approvals/approval.entity.js';
import { ApprovalsController } from './approvals/approvals.controller.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { CreateTables1800000000000 } from './create-tables.js';
import { HoursController } from './hours/hours.controller.js';
import { HoursResolver } from './hours/hours.resolver.js';
import { HoursSink } from './hours/hours.sink.js';
import { StaffGuard, toCaller } from './staff/staff.guard.js';

const timeLogs = TimeLogModule.forRoot({
  guard: StaffGuard,
  caller: toCaller,
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
    TypeOrmModule.forFeature([Approval]),
    GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
    timeLogs,
    TimeLogMessagesModule.over(timeLogs),
    EventRelayModule.over(timeLogs, { useClass: HoursSink }),
    RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
  ],
  controllers: [ApprovalsController, HoursController],
  providers: [ApprovalsService, HoursResolver, { provide: APP_FILTER, useClass: DomainErrorFilter }],
})
export class AppModule {}
