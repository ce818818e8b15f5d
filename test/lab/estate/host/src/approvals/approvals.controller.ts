import {
  Body,
  Controller,
  Get,
  Param,
  ParseUUIDPipe,
  Post,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import type { TimeLogValues } from 'time-logs/time-log';
import { type Staff, StaffGuard } from '../staff/staff.guard.js';
import { Approval } from './approval.entity.js';
import { ApprovalsService } from './approvals.service.js';
import { ProblemFilter } from './problem.filter.js';

/** Routes of ours, which return errors of time logs in our form. */
@Controller('approvals')
@UseGuards(StaffGuard)
@UseFilters(ProblemFilter)
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Post()
  record(@Body() values: TimeLogValues, @Req() request: { user: Staff }): Promise<Approval> {
    return this.approvals.record(values, request.user.name);
  }

  @Get(':projectId')
  list(@Param('projectId', ParseUUIDPipe) projectId: string): Promise<Approval[]> {
    return this.approvals.of(projectId);
  }
}
