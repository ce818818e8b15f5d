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
import { BearerAuthGuard, type Caller, Scopes } from 'time-logs/auth';
import { ErrorEnvelopeFilter } from 'time-logs/errors';
import { Approval } from './approval.entity';
import { ApprovalsService } from './approvals.service';

@Controller('approvals')
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  /** A route of ours behind the guard and the filter of time logs. */
  @Post(':logId')
  @UseGuards(BearerAuthGuard)
  @UseFilters(ErrorEnvelopeFilter)
  @Scopes(['approvals:write'])
  approve(
    @Param('logId', ParseUUIDPipe) logId: string,
    @Req() request: { user: Caller & { id: string } },
  ): Promise<Approval> {
    return this.approvals.approve(logId, request.user.id);
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
