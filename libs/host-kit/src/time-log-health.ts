import { Inject, Injectable } from '@nestjs/common';
import {
  applyRules,
  REQUEST_RULES,
  type RequestRules,
  withinDeadline,
} from '../../strict-request/src/index.js';
import { ALL_PROJECTS, TimeLogRepository, TypeOrmTimeLogRepository } from '../../../src/time-log/index.js';

const NO_LOG = '00000000-0000-0000-0000-000000000000';

/** Checks the store of time logs, for the health check of a host. */
@Injectable()
export class TimeLogHealth {
  constructor(
    private readonly repository: TimeLogRepository,
    @Inject(REQUEST_RULES) private readonly rules: RequestRules,
  ) {}

  /** Throws DomainError SERVICE_UNAVAILABLE if the store does not answer within `limits.deadline`. */
  async check(): Promise<void> {
    const { repository } = this;
    const request = {};
    applyRules(request, this.rules);
    const isOurs = repository instanceof TypeOrmTimeLogRepository;
    const answer = isOurs ? repository.database.ping() : repository.get(NO_LOG, ALL_PROJECTS);
    await withinDeadline<unknown>(request, answer);
  }

  /** Returns the result as an indicator of @nestjs/terminus does. Never rejects. */
  async isHealthy(key = 'time-logs'): Promise<Record<string, { status: 'up' | 'down' }>> {
    return this.check().then(
      () => ({ [key]: { status: 'up' } }),
      () => ({ [key]: { status: 'down' } }),
    );
  }
}
