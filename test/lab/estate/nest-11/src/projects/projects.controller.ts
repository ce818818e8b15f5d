import {
  Body,
  Controller,
  Get,
  Param,
  ParseUUIDPipe,
  Post,
  Put,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { AccessGuard, Scopes } from 'time-logs/auth';
import { DomainErrorFilter } from 'time-logs/errors';
import { Period } from 'time-logs/time-log';
import { TotalsService } from 'time-logs/totals';
import { Repository } from 'typeorm';
import { Project } from './project.entity';

@Controller('projects')
@UseGuards(AccessGuard)
@UseFilters(DomainErrorFilter)
export class ProjectsController {
  constructor(
    @InjectRepository(Project) private readonly projects: Repository<Project>,
    private readonly totals: TotalsService,
  ) {}

  @Post()
  @Scopes(['projects:write'])
  create(@Body() { id, name }: Project): Promise<Project> {
    return this.projects.save({ id, name });
  }

  @Put(':id/closed')
  @Scopes(['projects:write'])
  async close(@Param('id', ParseUUIDPipe) id: string): Promise<void> {
    await this.projects.update(id, { isClosed: true });
  }

  /** Sums of our own: the hours of a project by month, in our words. */
  @Get(':id/hours')
  @Scopes(['time-logs:read'])
  async hours(@Param('id', ParseUUIDPipe) projectId: string): Promise<object> {
    const { whole, groups } = await this.totals.totals(
      { projectIds: [projectId], period: Period.of() },
      'month',
    );
    return { hours: whole.duration, months: groups };
  }
}
