import { Controller, Get, Header, type OnModuleDestroy, Req, UseFilters, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { BearerAuthGuard, PublicRoute, Unlimited } from '../../libs/auth/src/index.js';
import { withinDeadline } from '../../libs/strict-request/src/index.js';
import { DomainError, ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { Database } from '../database/index.js';

const TEXT = 'text/plain; charset=utf-8';

/** Tells whether the service is available: answers `OK`, or the error envelope. */
@Controller()
@UseGuards(BearerAuthGuard)
@UseFilters(ErrorEnvelopeFilter)
export class HealthController implements OnModuleDestroy {
  private isShuttingDown = false;
  private pinging: Promise<unknown> | undefined;

  constructor(private readonly database: Database) {}

  /** The check of the contract. Needs a token, like every request, and a database that works. */
  @Get('health')
  @Unlimited()
  @Header('Content-Type', TEXT)
  async health(@Req() request: Request): Promise<string> {
    await withinDeadline(request, this.ping());
    return 'OK';
  }

  /** For orchestrators, without a token: the process runs. It never asks the database: no restart would mend that. */
  @Get('livez')
  @PublicRoute()
  @Header('Content-Type', TEXT)
  live(): string {
    return 'OK';
  }

  /** For load balancers, without a token: like `health`, but it refuses from the start of a shutdown. */
  @Get('readyz')
  @PublicRoute()
  @Header('Content-Type', TEXT)
  async ready(@Req() request: Request): Promise<string> {
    if (this.isShuttingDown) throw new DomainError('SERVICE_UNAVAILABLE', 'the service is shutting down');
    return this.health(request);
  }

  /** All callers share one statement: a path without a token must not be a way to flood the database. */
  private async ping(): Promise<void> {
    this.pinging ??= this.database.query('select 1').finally(() => (this.pinging = undefined));
    await this.pinging;
  }

  onModuleDestroy(): void {
    this.isShuttingDown = true;
  }
}
