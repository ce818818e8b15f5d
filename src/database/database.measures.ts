import { Inject, Injectable } from '@nestjs/common';
import { MetricsSource, type Meter } from '../../libs/measures/src/index.js';
import { Database } from './database.js';

/** Measures the use of the connection pool of the default DataSource, which a host may lack. */
@Injectable()
export class DatabaseMeasures extends MetricsSource {
  constructor(@Inject(Database) private readonly database: Database | undefined) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    const { database } = this;
    if (!database) return;
    meter.gauge('database_pool_connections', 'Connections of the pool.', () => database.pool.total);
    meter.gauge(
      'database_pool_idle_connections',
      'Connections of the pool that are idle.',
      () => database.pool.idle,
    );
    meter.gauge(
      'database_pool_waiting_statements',
      'Statements that wait for a connection of the pool.',
      () => database.pool.waiting,
    );
  }
}
