import { Injectable, Optional } from '@nestjs/common';
import { type Meter, MetricsSource } from '../../../libs/measures/src/index.js';
import { ExportRepository } from '../domain/export.repository.js';
import { TypeOrmExportRepository } from './typeorm-export.repository.js';

/** Measures the running exports: each has a connection of the pool. */
@Injectable()
export class ExportMeasures extends MetricsSource {
  constructor(@Optional() private readonly repository?: ExportRepository) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    const { repository } = this;
    if (!(repository instanceof TypeOrmExportRepository)) return;
    meter.gauge('time_log_exports_running', 'Running exports.', () => repository.runningExports);
  }
}
