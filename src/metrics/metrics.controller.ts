import { Controller, Get, Header, UseFilters, UseGuards } from '@nestjs/common';
import { Registry } from 'prom-client';
import { AccessGuard, Scopes, Unlimited } from '../../libs/auth/src/index.js';
import { ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';

/** The scope for reading metrics. */
export const READ_METRICS = 'metrics:read';

/** Serves the metrics of this process in the text format of Prometheus. */
@Controller('metrics')
@UseGuards(AccessGuard)
@UseFilters(ErrorEnvelopeFilter)
export class MetricsController {
  constructor(private readonly registry: Registry) {}

  @Get()
  @Scopes([READ_METRICS])
  @Unlimited()
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  read(): Promise<string> {
    return this.registry.metrics();
  }
}
