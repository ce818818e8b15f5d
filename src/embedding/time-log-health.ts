import { Inject, Injectable } from '@nestjs/common';
import {
  applyRules,
  REQUEST_RULES,
  type RequestRules,
  withinDeadline,
} from '../../libs/request-state/src/index.js';
import { TypeOrmTimeLogRepository } from '../time-log/index.js';

/** Checks the store of time logs, for the health check of a host. */
@Injectable()
export class TimeLogHealth {
  constructor(
    private readonly repository: TypeOrmTimeLogRepository,
    @Inject(REQUEST_RULES) private readonly rules: RequestRules,
  ) {}

  /** Throws DomainError SERVICE_UNAVAILABLE if the store does not answer within `limits.deadline`. */
  async check(): Promise<void> {
    const request = {};
    applyRules(request, this.rules);
    await withinDeadline(request, this.repository.database.ping());
  }

  /** Returns the result as an indicator of @nestjs/terminus does. Never rejects. */
  async isHealthy(key = 'time-logs'): Promise<Record<string, { status: 'up' | 'down' }>> {
    return this.check().then(
      () => ({ [key]: { status: 'up' } }),
      () => ({ [key]: { status: 'down' } }),
    );
  }
}
