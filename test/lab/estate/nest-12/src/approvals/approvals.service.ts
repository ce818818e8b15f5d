import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { TimeLogService } from 'time-logs/time-log';
import { Repository } from 'typeorm';
import { Approval } from './approval.entity.js';

@Injectable()
export class ApprovalsService {
  constructor(
    private readonly timeLogs: TimeLogService,
    @InjectRepository(Approval) private readonly approvals: Repository<Approval>,
  ) {}

  /** Throws DomainError NOT_FOUND if there is no such log, and VALIDATION_ERROR if the id is no UUID. */
  async approve(logId: string, approvedBy: string): Promise<Approval> {
    const { id } = await this.timeLogs.get(logId);
    return this.approvals.save({ logId: id, approvedBy });
  }

  /** The approvals of a project, with their logs. */
  of(projectId: string): Promise<Approval[]> {
    return this.approvals.find({ where: { log: { projectId } }, relations: { log: true } });
  }
}
