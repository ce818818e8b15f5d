import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DomainError } from '../../errors/src/index.js';
import { MetricsSource, type Meter } from '../../measures/src/index.js';
import { OutageLatch, Database } from '../../../src/database/index.js';
import { type Backlog, FeedRepository } from '../../../src/feed/index.js';
import { EventSink } from './event-sink.js';
import { INTERVALS, type RelayIntervals } from './relay-intervals.js';
import { RelayLease } from './relay-lease.js';

/** More events than this are not counted: a metric must not become a load. */
const MOST = 10_000;

/**
 * Measures by how much the relay is behind, in every instance: also where none of them publishes. On a standby, which
 * may itself be behind, that is not known: NaN.
 */
@Injectable()
export class EventRelayMeasures extends MetricsSource implements OnModuleDestroy {
  private backlog: Backlog | undefined = { events: 0, oldest: undefined };
  /** Since when the oldest event is the oldest here, on the clock of `performance`. */
  private oldestSince = 0;
  private readonly logger = new Logger(EventRelayMeasures.name);
  private readonly failing = new OutageLatch({
    begin: (reason) => this.logger.error(`the lag of events is not known: ${reason}`),
    end: () => this.logger.log('the lag of events is known again'),
  });
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly feed: FeedRepository,
    private readonly sink: EventSink,
    @Inject(INTERVALS) private readonly intervals: RelayIntervals,
  ) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    void this.look();
    this.timer = setInterval(() => void this.look(), this.intervals.measurement).unref();
    meter.gauge(
      'time_log_event_lag',
      `Events of time logs that are not known to be published; at most ${MOST}.`,
      () => this.backlog?.events ?? NaN,
    );
    meter.gauge('time_log_event_lag_seconds', 'Age of the oldest of these events.', () => {
      if (!this.backlog) return NaN;
      const { oldest } = this.backlog;
      if (oldest === undefined) return 0;
      // After a clock went back the log may be from the future, and still its event waits.
      return Math.max(Date.now() - oldest.getTime(), performance.now() - this.oldestSince) / 1_000;
    });
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const begun = performance.now();
    try {
      const place = await RelayLease.placeOf(this.database, this.sink.name);
      const backlog = place && (await this.feed.backlog(place, MOST));
      if (backlog?.oldest?.getTime() !== this.backlog?.oldest?.getTime()) this.oldestSince = begun;
      this.backlog = backlog;
      this.failing.end(begun);
    } catch (error) {
      // An outage of the database is logged elsewhere. Meanwhile the age grows on.
      if (!(error instanceof DomainError)) this.failing.begin(begun, (error as Error).message);
    }
  }
}
