import { Injectable } from '@nestjs/common';
import { MetricsSource, type Meter } from '../../libs/measures/src/index.js';
import { Database } from './database.js';

/** Measures the use of the connection pool. */
@Injectable()
export class DatabaseMeasures extends MetricsSource {
  constructor(private readonly database: Database) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    meter.gauge('database_pool_connections', 'Connections of the pool.', () => this.database.pool.total);
    meter.gauge(
      'database_pool_idle_connections',
      'Connections of the pool that are idle.',
      () => this.database.pool.idle,
    );
    meter.gauge(
      'database_pool_waiting_statements',
      'Statements that wait for a connection of the pool.',
      () => this.database.pool.waiting,
    );
  }
}
