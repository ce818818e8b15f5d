import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
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
import { BEGINNING, RelayLease } from './relay-lease.js';

/** The most events of one read, and the size of the window at which it reads no more. */
const PAGE = 250;
const ENOUGH = 500;
const FORGOTTEN = Symbol('forgotten');
/** Milliseconds that the end waits for events under way. */
const PATIENCE = 2_000;

/**
 * Publishes what the feed tells, at least once, and what it tells of one project, and of one log, in its order. Of all
 * instances one does so at a time.
 */
@Injectable()
export class EventRelay implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(EventRelay.name);
  private readonly wakeSignal = new WakeSignal();
  private readonly holder = randomUUID();
  private readonly feed: FeedRepository;
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
    @Optional() feed?: FeedRepository,
  ) {
    this.feed = feed ?? withoutFeed();
    this.waiting = new OutageLatch({
      begin: (reason) => this.logger.error(`events wait for ${sink.name}: ${reason}`),
      end: () => this.logger.log(`events go to ${sink.name} again`),
    });
    this.standingBy = new OutageLatch({
      begin: (until) =>
        this.logger.log(
          `another instance publishes events to ${sink.name}; this one waits until ${until}, and longer where that instance goes on`,
        ),
      end: () => this.logger.log(`this instance publishes events to ${sink.name} now`),
    });
  }

  onApplicationBootstrap(): void {
    this.timeLogs.onRecorded(() => this.isRelaying && this.wakeSignal.set());
    this.running = this.run();
  }

  /**
   * Begins to give the lease up, so that another instance goes on at once. The drain of requests need not wait for
   * it.
   */
  onModuleDestroy(): void {
    this.isStopped = true;
    this.wakeSignal.set();
  }

  /** The DataSource ends later. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const lease = await this.tried(() => this.take());
      if (lease) await this.relay(lease);
      else await this.wakeSignal.sleep(this.intervals.poll);
    }
    // Whatever a sink has to say at its end, it must not end the process in another way.
    await this.sink.close().catch(() => undefined);
  }

  private async take(): Promise<RelayLease | undefined> {
    const begun = performance.now();
    const { name } = this.sink;
    const lease = await RelayLease.take(this.database, name, this.holder, this.intervals, {
      isTaken: (until) => this.standingBy.begin(begun, until),
      wasAhead: (until) =>
        this.logger.warn(
          `the clock of the database went back: the right to publish events to ${name}, which another instance had until ${until}, counts as free`,
        ),
    });
    if (lease) this.standingBy.end(begun);
    return lease;
  }

  /** Publishes until the lease is lost, or the app ends. */
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
      onAcknowledged: () => isFull && window.size < ENOUGH && this.wakeSignal.set(),
    });
    let read = lease.place;
    this.isRelaying = true;
    while (!this.isStopped && lease.isHeld) {
      const begun = performance.now();
      const events = isFull ? [] : await this.tried(() => this.eventsAfter(read));
      if (events === FORGOTTEN) {
        read = BEGINNING;
        continue;
      }
      const last = events?.at(-1);
      if (last) read = { position: last.position, logId: last.log.id };
      window.add(events ?? []);
      isFull = window.size >= ENOUGH;
      publisher.advance();
      const isDue = lease.dueIn(window.settled) === 0;
      const isNoted = !isDue || (await this.tried(() => lease.note(window.settled)));
      if (!events || !isNoted) await delay(poll);
      else if (events.length < PAGE || isFull) {
        const limit = window.size > 0 ? busyPoll : poll;
        await this.wakeSignal.sleep(Math.min(limit, lease.dueIn(window.settled)));
        isFull = window.size >= ENOUGH;
        await delay(Math.max(0, begun + readPause - performance.now()));
      }
    }
    this.isRelaying = false;
    await publisher.stop(PATIENCE);
    await this.tried(() => lease.giveUp(window.settled));
  }

  private async eventsAfter(place: FeedPlace): Promise<readonly TimeLogEvent[] | typeof FORGOTTEN> {
    // Who reads from the beginning is never told that it is forgotten.
    const from = place.position === BEGINNING.position ? undefined : place;
    try {
      return await this.feed.eventsAfter(from, PAGE);
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'GONE')) throw error;
      this.logger.warn(
        `the feed no longer reaches back to what ${this.sink.name} got last: all logs are published again, and whoever keeps a copy must begin anew`,
      );
      return FORGOTTEN;
    }
  }

  /** The result, or undefined where the database is away, which is logged elsewhere, or fails. */
  private async tried<T>(act: () => Promise<T>): Promise<T | undefined> {
    const begun = performance.now();
    try {
      const result = await act();
      this.failing.end(begun);
      return result;
    } catch (error) {
      if (!(error instanceof DomainError)) {
        this.failing.begin(begun, reasonOf(error));
      }
      return undefined;
    }
  }
}

function withoutFeed(): never {
  throw new Error(
    'the store of time logs has no feed to publish: bind FeedRepository in the adapters of TimeLogModule.forRoot',
  );
}
