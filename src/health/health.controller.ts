import { Controller, Get, Header, type OnModuleDestroy, Req, UseFilters, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { BearerAuthGuard, Open, Unlimited } from '../../libs/auth/src/index.js';
import { withinDeadline } from '../../libs/strict-request/src/index.js';
import { DomainError, ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { Database } from '../database/index.js';
import {
  HealthDocumentation,
  LivenessDocumentation,
  ReadinessDocumentation,
} from './health.documentation.js';

const TEXT = 'text/plain; charset=utf-8';

/** Whether the service is available. Answers `OK`, else the error body. */
@Controller()
@Unlimited()
@UseGuards(BearerAuthGuard)
@UseFilters(ErrorEnvelopeFilter)
export class HealthController implements OnModuleDestroy {
  private isShuttingDown = false;
  private pinging: Promise<unknown> | undefined;

  constructor(private readonly database: Database) {}

  /** The contract's check: with a token like every request, and only while the database can be used. */
  @Get('health')
  @HealthDocumentation
  @Header('Content-Type', TEXT)
  async health(@Req() request: Request): Promise<string> {
    await withinDeadline(request, this.ping());
    return 'OK';
  }

  /** For orchestrators, open: the process runs. Never looks at the database, whose outage no restart would mend. */
  @Get('livez')
  @Open()
  @LivenessDocumentation
  @Header('Content-Type', TEXT)
  live(): string {
    return 'OK';
  }

  /** For load balancers, open: as `health`, but refusing from the moment that the shutdown begins. */
  @Get('readyz')
  @Open()
  @ReadinessDocumentation
  @Header('Content-Type', TEXT)
  async ready(@Req() request: Request): Promise<string> {
    if (this.isShuttingDown) throw new DomainError('SERVICE_UNAVAILABLE', 'the service is shutting down');
    return this.health(request);
  }

  /** One statement for all who ask at the same time: an open path must not be a way to drown the database. */
  private async ping(): Promise<void> {
    this.pinging ??= this.database.query('select 1').finally(() => (this.pinging = undefined));
    await this.pinging;
  }

  onModuleDestroy(): void {
    this.isShuttingDown = true;
  }
}
