import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { inBackground } from '../../libs/batching/src/index.js';
import { MetricsSource, type Meter } from '../../libs/measures/src/index.js';
import { Database } from '../database/index.js';
import { type Backlog, FeedRepository } from '../feed/index.js';
import { EventRelay, POLL_MS } from './event-relay.js';
import { EventSink } from './event-sink.js';
import { RelayLease } from './relay-lease.js';

/** The number of events up to which they are counted: a metric must not become a load. */
const MAX_COUNTED_EVENTS = 10_000;

/**
 * Measures the lag of the relay in every instance, even if none publishes. On a standby, which may
 * lag itself, it is unknown: NaN.
 */
@Injectable()
export class EventRelayMeasures extends MetricsSource implements OnModuleDestroy {
  private backlog: Backlog | undefined = { events: 0, oldest: undefined };
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly feed: FeedRepository,
    private readonly relay: EventRelay,
    private readonly sink: EventSink,
    @Inject(POLL_MS) private readonly pollMs: number,
  ) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    // The relay logs why it fails. The age keeps growing meanwhile.
    const measure = () => void inBackground(() => this.measureLag()).catch(() => undefined);
    measure();
    clearInterval(this.timer);
    this.timer = setInterval(measure, 2 * this.pollMs).unref();
    meter.gauge(
      'time_log_event_lag',
      `Events of time logs that are not known to be published; at most ${MAX_COUNTED_EVENTS}.`,
      () => this.backlog?.events ?? NaN,
    );
    const age = () => {
      if (!this.backlog) return NaN;
      const { oldest } = this.backlog;
      if (oldest === undefined) return 0;
      // If a clock was set back, the log may be from the future.
      return Math.max(0, Date.now() - oldest.getTime()) / 1_000;
    };
    meter.gauge('time_log_event_lag_seconds', 'Age of the oldest of these events.', age, Math.max);
    meter.info(
      'time_log_event_refused',
      '1 for the event that holds up all others: the receiver refuses it.',
      'event',
      () => this.relay.heldUpBy,
    );
    if (this.sink.isStopped === undefined) return;
    meter.gauge(
      'time_log_event_relay_stopped',
      '1 if this instance publishes nothing until a restart, because the webhook answered 410 Gone.',
      () => Number(this.sink.isStopped),
    );
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async measureLag(): Promise<void> {
    const { isReadOnly, ...cursor } = await RelayLease.stateOf(this.database, this.sink.name);
    this.backlog = isReadOnly ? undefined : await this.feed.backlog(cursor, MAX_COUNTED_EVENTS);
  }
}
