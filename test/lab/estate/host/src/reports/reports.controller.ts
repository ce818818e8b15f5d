import { Controller, Get, Req, UseFilters, UseGuards } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { AccessGuard, callerOf, Scopes } from 'time-logs/auth';
import { DomainErrorFilter } from 'time-logs/errors';
import { TimeLog } from 'time-logs/time-log';
import { DataSource } from 'typeorm';
import { Project } from '../projects/project.entity.js';

@Controller('reports')
@UseGuards(AccessGuard)
@UseFilters(DomainErrorFilter)
export class ReportsController {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** The hours of each project of the caller, by its name. */
  @Get('hours')
  @Scopes(['time-logs:read'])
  hours(@Req() request: object): Promise<{ project: string; hours: string }[]> {
    const query = this.dataSource
      .getRepository(TimeLog)
      .createQueryBuilder('log')
      .innerJoin(Project, 'project', 'project.id = log.projectId')
      .select('project.name', 'project')
      .addSelect('sum(log.duration)', 'hours')
      .groupBy('project.name');
    const { projects } = callerOf(request) ?? {};
    if (projects) query.where('log.projectId = any(:projects)', { projects });
    return query.getRawMany();
  }
}
