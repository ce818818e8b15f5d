import { Controller, Get, Param, UseFilters, UseGuards } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { BearerAuthGuard, Scopes } from 'time-logs/auth';
import { DomainErrorFilter } from 'time-logs/errors';
import { TimeLog } from 'time-logs/time-log';
import { DataSource } from 'typeorm';

/** A route of ours under the path of time logs. It stands in AppModule, so Nest knows it before theirs. */
@Controller('api/v1/time-logs/of-ticket')
@UseGuards(BearerAuthGuard)
@UseFilters(DomainErrorFilter)
export class TicketsController {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  @Get(':ticket')
  @Scopes(['time-logs:read'])
  logs(@Param('ticket') ticket: string): Promise<TimeLog[]> {
    return this.dataSource
      .getRepository(TimeLog)
      .createQueryBuilder('log')
      .where(`log.attributes ->> 'ticket' = :ticket`, { ticket })
      .orderBy('log.date', 'DESC')
      .take(50)
      .getMany();
  }
}
