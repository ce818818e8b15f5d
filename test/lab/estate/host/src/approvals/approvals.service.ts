import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { TimeLogService, type TimeLogValues } from 'time-logs/time-log';
import { DataSource } from 'typeorm';
import { Approval } from './approval.entity.js';

@Injectable()
export class ApprovalsService {
  constructor(
    private readonly timeLogs: TimeLogService,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /** Records work that is approved already: stores the log, what our hooks write, and the approval, or nothing. */
  record(values: TimeLogValues, approvedBy: string): Promise<Approval> {
    return this.dataSource.transaction(async (manager) => {
      const { id: logId } = await this.timeLogs.record(values, { manager, caller: { id: approvedBy } });
      return manager.save(Approval, { logId, approvedBy });
    });
  }

  /** The approvals of a project, with their logs. */
  of(projectId: string): Promise<Approval[]> {
    const approvals = this.dataSource.getRepository(Approval);
    return approvals.find({ where: { log: { projectId } }, relations: { log: true } });
  }
}
