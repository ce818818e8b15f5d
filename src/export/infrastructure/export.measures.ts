import { Injectable } from '@nestjs/common';
import { type Meter, MetricsSource } from '../../../libs/measures/src/index.js';
import { TypeOrmExportRepository } from './typeorm-export.repository.js';

/** Measures the running exports: each has a connection of the pool. */
@Injectable()
export class ExportMeasures extends MetricsSource {
  constructor(private readonly repository: TypeOrmExportRepository) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    meter.gauge('time_log_exports_running', 'Running exports.', () => this.repository.runningExports);
  }
}
