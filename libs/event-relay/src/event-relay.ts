import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { inBackground } from '../../batching/src/index.js';
import { DomainError, reasonOf } from '../../errors/src/index.js';
import { OutageLatch, Database } from '../../../src/database/index.js';
import {
  type FeedPlace,
  FeedRepository,
  SOURCE_OF_EVENTS,
  type TimeLogEvent,
} from '../../../src/feed/index.js';
import { TimeLogRepository } from '../../../src/time-log/index.js';
import { WakeSignal } from './wake-signal.js';
import { EventPublisher } from './event-publisher.js';
import { EventSink } from './event-sink.js';
import { EventWindow } from './event-window.js';
import { INTERVALS, type RelayIntervals } from './relay-intervals.js';
import { RelayCheckpoint } from './relay-checkpoint.entity.js';
import { BEGINNING, RelayLease } from './relay-lease.js';

/** The maximum number of events of one read. */
const PAGE_EVENTS = 250;
/** The number of events in the window from which no more are read. */
const FULL_WINDOW_EVENTS = 500;
const FEED_GONE = Symbol('FEED_GONE');
/** The maximum time that a shutdown waits for events in flight. */
const STOP_TIMEOUT_MS = 2_000;

/**
 * Publishes the events of the feed at least once, and those of a project or a log in the order of
 * the feed. Only one instance does so at a time.
 */
@Injectable()
export class EventRelay implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(EventRelay.name);
  private readonly wakeSignal = new WakeSignal();
  private readonly holder = randomUUID();
  private readonly waiting: OutageLatch;
  private readonly standingBy: OutageLatch;
  private readonly failing = new OutageLatch({
    begin: (reason) => this.logger.error(`events wait; the relay failed: ${reason}`),
    end: () => this.logger.log('the relay works again'),
  });
  private isRelaying = false;
  private isStopped = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly timeLogs: TimeLogRepository,
    private readonly sink: EventSink,
    @Inject(SOURCE_OF_EVENTS) private readonly source: string,
    @Inject(INTERVALS) private readonly intervals: RelayIntervals,
    private readonly feed: FeedRepository,
  ) {
    this.waiting = new OutageLatch({
      begin: (reason) => this.logger.error(`events wait for ${sink.name}: ${reason}`),
      end: () => this.logger.log(`events go to ${sink.name} again`),
    });
    this.standingBy = new OutageLatch({
      begin: (until) =>
        this.logger.log(
          `another instance publishes events to ${sink.name}; this one waits until ${until}, or longer if that instance renews its lease`,
        ),
      end: () => this.logger.log(`this instance publishes events to ${sink.name} now`),
    });
  }

  /** Throws an Error that says what to do if the DataSource lacks the entity. A host may connect it later. */
  onApplicationBootstrap(): void {
    const isOpen = (this.database as Database | undefined)?.isOpen;
    if (isOpen && !this.database.knows(RelayCheckpoint))
      throw new Error(
        'the DataSource lacks the entities of the relay: add eventRelayEntities to its entities, or to those of connection',
      );
    this.timeLogs.onRecorded(() => this.isRelaying && this.wakeSignal.set());
    this.running = inBackground(() => this.run());
  }

  /**
   * Starts to release the lease, so that another instance continues at once. The drain of requests
   * does not wait for it.
   */
  onModuleDestroy(): void {
    this.isStopped = true;
    this.wakeSignal.set();
  }

  /** Waits until the lease is released: the DataSource closes after this hook. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const lease = await this.attempt(() => this.takeLease());
      if (lease) await this.relay(lease);
      else await this.wakeSignal.sleep(this.intervals.poll);
    }
    // An error of a sink that closes must not break the shutdown.
    await this.sink.close().catch(() => undefined);
  }

  private async takeLease(): Promise<RelayLease | undefined> {
    const startedAt = performance.now();
    const { name } = this.sink;
    const lease = await RelayLease.take(this.database, name, this.holder, this.intervals, {
      onTaken: (until) => this.standingBy.begin(startedAt, until),
      onClockSetBack: (until) =>
        this.logger.warn(
          `the clock of the database went back: this instance takes over the lease to publish events to ${name}, which another one held until ${until}`,
        ),
    });
    if (lease) this.standingBy.end(startedAt);
    return lease;
  }

  /** Publishes until the lease is lost or the app shuts down. */
  private async relay(lease: RelayLease): Promise<void> {
    const { poll, busyPoll, readPause } = this.intervals;
    const window = new EventWindow(lease.place);
    let isFull = false;
    const publisher = new EventPublisher({
      window,
      sink: this.sink,
      source: this.source,
      mayPublish: () => lease.isHeld,
      waiting: this.waiting,
      intervals: this.intervals,
      onAcknowledged: () => isFull && window.size < FULL_WINDOW_EVENTS && this.wakeSignal.set(),
    });
    let lastRead = lease.place;
    this.isRelaying = true;
    while (!this.isStopped && lease.isHeld) {
      const startedAt = performance.now();
      const events = isFull ? [] : await this.attempt(() => this.readAfter(lastRead));
      if (events === FEED_GONE) {
        lastRead = BEGINNING;
        continue;
      }
      const last = events?.at(-1);
      if (last) lastRead = { position: last.position, logId: last.log.id };
      window.add(events ?? []);
      isFull = window.size >= FULL_WINDOW_EVENTS;
      publisher.advance();
      const isDue = lease.dueIn(window.settled) === 0;
      const isSaved = !isDue || (await this.attempt(() => lease.saveProgress(window.settled)));
      if (!events || !isSaved) await delay(poll);
      else if (events.length < PAGE_EVENTS || isFull) {
        const interval = window.size > 0 ? busyPoll : poll;
        await this.wakeSignal.sleep(Math.min(interval, lease.dueIn(window.settled)));
        isFull = window.size >= FULL_WINDOW_EVENTS;
        await delay(Math.max(0, startedAt + readPause - performance.now()));
      }
    }
    this.isRelaying = false;
    await publisher.stop(STOP_TIMEOUT_MS);
    await this.attempt(() => lease.release(window.settled));
  }

  private async readAfter(place: FeedPlace): Promise<readonly TimeLogEvent[] | typeof FEED_GONE> {
    // A read from the beginning never fails with GONE.
    const from = place.position === BEGINNING.position ? undefined : place;
    try {
      return await this.feed.eventsAfter(from, PAGE_EVENTS);
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'GONE')) throw error;
      this.logger.warn(
        `the feed no longer reaches back to what ${this.sink.name} got last: all logs are published again, and consumers that keep a copy must start with an empty one`,
      );
      return FEED_GONE;
    }
  }

  /** Returns undefined after an error. An outage of the database is logged elsewhere. */
  private async attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
    const startedAt = performance.now();
    try {
      const result = await action();
      this.failing.end(startedAt);
      return result;
    } catch (error) {
      if (!(error instanceof DomainError)) this.failing.begin(startedAt, reasonOf(error));
      return undefined;
    }
  }
}
