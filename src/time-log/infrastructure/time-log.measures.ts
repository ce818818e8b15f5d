import { Injectable } from '@nestjs/common';
import { MetricsSource, type Meter } from '../../../libs/measures/src/index.js';
import { TypeOrmTimeLogRepository } from './typeorm-time-log.repository.js';

/** Logs per commit. */
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** Seconds. */
const WAIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Measures batches of logs and how long logs wait for their commit. */
@Injectable()
export class TimeLogMeasures extends MetricsSource {
  constructor(private readonly repository: TypeOrmTimeLogRepository) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    const { repository } = this;
    const size = meter.histogram(
      'time_log_write_batch_size',
      'Time logs that were handed on together, to be written in one commit.',
      BATCH_BUCKETS,
    );
    const wait = meter.histogram(
      'time_log_write_wait_seconds',
      'Time that each time log waited until its commit began.',
      WAIT_BUCKETS,
    );
    for (const queue of repository.queues) queue.observers = { size, wait };
    meter.gauge(
      'time_log_write_queue_length',
      'Changes that wait for a commit; a batch counts once.',
      () => repository.queueLength,
    );
  }
}
