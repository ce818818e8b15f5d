import { Controller, Get, Header, type OnModuleInit } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { Registry } from 'prom-client';
import { TimeLogMetrics } from 'time-logs/metrics';
import { TimeLogHealth } from 'time-logs/time-log';

/** The routes for monitoring. A real app serves them on another port. */
@Controller()
export class OperationController implements OnModuleInit {
  private readonly registry = new Registry();

  constructor(
    private readonly health: HealthCheckService,
    private readonly timeLogHealth: TimeLogHealth,
    private readonly timeLogMetrics: TimeLogMetrics,
  ) {}

  onModuleInit(): void {
    this.timeLogMetrics.register(this.registry);
  }

  @Get('health')
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.timeLogHealth.isHealthy()]);
  }

  @Get('metrics')
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.registry.metrics();
  }
}
