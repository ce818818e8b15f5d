import {
  Controller,
  Get,
  Param,
  ParseUUIDPipe,
  Post,
  Query,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { Approval } from './approval.entity.js';
import { ApprovalsService } from './approvals.service.js';
import { ProblemFilter } from '../errors/problem.filter.js';
import { type Staff, StaffGuard } from '../staff/staff.guard.js';

@Controller('approvals')
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  /** A route of ours, which tells errors of time logs in our form. */
  @Post(':logId')
  @UseGuards(StaffGuard)
  @UseFilters(ProblemFilter)
  approve(@Param('logId') logId: string, @Req() request: { user: Staff }): Promise<Approval> {
    return this.approvals.approve(logId, request.user.name);
  }

  @Get()
  list(@Query('projectId', ParseUUIDPipe) projectId: string): Promise<Approval[]> {
    return this.approvals.of(projectId);
  }

  /** A message of ours, beside `time-log.record.v1` and `time-log.list.v1`. */
  @MessagePattern('approvals.of-project')
  ofProject({ projectId }: { projectId: string }): Promise<Approval[]> {
    return this.approvals.of(projectId);
  }
}
