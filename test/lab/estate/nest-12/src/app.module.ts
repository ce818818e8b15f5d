import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { APP_FILTER, RouterModule } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DomainErrorFilter } from 'time-logs/errors';
import { EventRelayModule, eventRelayMigrations } from 'time-logs/events';
import { FeedRepository, TypeOrmFeedRepository } from 'time-logs/feed';
import { TimeLogMessagesModule } from 'time-logs/messages';
import {
  timeLogMigrations,
  TimeLogModule,
  TimeLogRepository,
  TypeOrmTimeLogRepository,
} from 'time-logs/time-log';
import { ExportRepository, TypeOrmExportRepository } from 'time-logs/export';
import { TotalsRepository, TypeOrmTotalsRepository } from 'time-logs/totals';
import { Approval } from './approvals/approval.entity.js';
import { ApprovalsController } from './approvals/approvals.controller.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { CreateTables1800000000000 } from './create-tables.js';
import { HoursController } from './hours/hours.controller.js';
import { HoursResolver } from './hours/hours.resolver.js';
import { HoursSink } from './hours/hours.sink.js';
import { StaffGuard, toCaller } from './staff/staff.guard.js';
import { TimedTimeLogRepository } from './timed/timed-time-log.repository.js';

const timeLogs = TimeLogModule.forRoot({
  guard: StaffGuard,
  caller: toCaller,
  adapters: [
    {
      provide: TimeLogRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (ours: TypeOrmTimeLogRepository) => new TimedTimeLogRepository(ours),
    },
    // TimedTimeLogRepository has no totals, feed or exports: the app uses those of ours.
    {
      provide: TotalsRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (ours: TypeOrmTimeLogRepository) => new TypeOrmTotalsRepository(ours),
    },
    {
      provide: ExportRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (ours: TypeOrmTimeLogRepository) => new TypeOrmExportRepository(ours),
    },
    {
      provide: FeedRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (ours: TypeOrmTimeLogRepository) => new TypeOrmFeedRepository(ours),
    },
  ],
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
    EventRelayModule.over(timeLogs, HoursSink),
    RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
  ],
  controllers: [ApprovalsController, HoursController],
  providers: [ApprovalsService, HoursResolver, { provide: APP_FILTER, useClass: DomainErrorFilter }],
})
export class AppModule {}
