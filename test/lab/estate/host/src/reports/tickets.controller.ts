import { Controller, Get, Param, Req, UseFilters, UseGuards } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { AccessGuard, callerOf, Scopes } from 'time-logs/auth';
import { DomainErrorFilter } from 'time-logs/errors';
import { TimeLog } from 'time-logs/time-log';
import { DataSource } from 'typeorm';

/** A route of ours under the path of time logs. It stands in AppModule, so Nest knows it before theirs. */
@Controller('api/v1/time-logs/of-ticket')
@UseGuards(AccessGuard)
@UseFilters(DomainErrorFilter)
export class TicketsController {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  @Get(':ticket')
  @Scopes(['time-logs:read'])
  logs(@Param('ticket') ticket: string, @Req() request: object): Promise<TimeLog[]> {
    const query = this.dataSource
      .getRepository(TimeLog)
      .createQueryBuilder('log')
      .where(`log.attributes ->> 'ticket' = :ticket`, { ticket });
    const { projects, attributes } = callerOf(request) ?? {};
    if (projects) query.andWhere('log.projectId = any(:projects)', { projects });
    if (attributes) query.andWhere('log.attributes @> :attributes', { attributes });
    return query.orderBy('log.date', 'DESC').take(50).getMany();
  }
}
