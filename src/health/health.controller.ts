import { Controller, Get, Header, type OnModuleDestroy, Req, UseFilters, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { AccessGuard, PublicRoute, Unlimited } from '../../libs/auth/src/index.js';
import { withinDeadline } from '../../libs/request-state/src/index.js';
import { DomainError, ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { Database } from '../database/index.js';

const TEXT = 'text/plain; charset=utf-8';

/** Reports whether the service is available: answers `OK`, or the error envelope. */
@Controller()
@UseGuards(AccessGuard)
@UseFilters(ErrorEnvelopeFilter)
export class HealthController implements OnModuleDestroy {
  private isShuttingDown = false;

  constructor(private readonly database: Database) {}

  /** The health check of the contract. It needs a valid token and a working database. */
  @Get('health')
  @Unlimited()
  @Header('Content-Type', TEXT)
  async health(@Req() request: Request): Promise<string> {
    await withinDeadline(request, this.database.ping());
    return 'OK';
  }

  /** For orchestrators, without a token or a query: a restart would not end an outage. */
  @Get('livez')
  @PublicRoute()
  @Header('Content-Type', TEXT)
  live(): string {
    return 'OK';
  }

  /** For load balancers, without a token. It fails like `health`, and during a shutdown. */
  @Get('readyz')
  @PublicRoute()
  @Header('Content-Type', TEXT)
  async ready(@Req() request: Request): Promise<string> {
    if (this.isShuttingDown) throw new DomainError('SERVICE_UNAVAILABLE', 'the service is shutting down');
    return this.health(request);
  }

  onModuleDestroy(): void {
    this.isShuttingDown = true;
  }
}
