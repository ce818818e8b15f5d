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
import { inBackground } from '../../libs/batching/src/index.js';
import { DomainError, reasonOf } from '../../libs/errors/src/index.js';
import { OutageLatch, Database } from '../database/index.js';
import { FeedRepository, SOURCE_OF_EVENTS, type TimeLogEvent } from '../feed/index.js';
import { TimeLogRepository } from '../time-log/index.js';
import { EventRefusal, EventSink, type RetryDelays } from './event-sink.js';
import { PagePublication } from './page-publication.js';
import { BEGINNING, RelayCheckpoint, RelayLease } from './relay-lease.js';

/** The injection token of the milliseconds between two reads of the feed without a signal. */
export const POLL_MS = Symbol('POLL_MS');
/** The minimum time between two reads, unless there are more events than one page. */
const READ_INTERVAL_MS = 50;
const PAGE_EVENTS = 250;
const RETRY_DELAYS: RetryDelays = { first: 250, longest: 5_000 };
/** The maximum time that a shutdown waits for events in flight. */
const STOP_TIMEOUT_MS = 2_000;

/**
 * Publishes the events of the feed at least once, in its order: a page, then its cursor is saved.
 * After a failure it continues from the first event that is not confirmed, one event at first. Only
 * one instance publishes at a time.
 */
@Injectable()
export class EventRelay implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(EventRelay.name);
  private readonly holder = randomUUID();
  private readonly standingBy: OutageLatch;
  private readonly failing = new OutageLatch({
    begin: (reason) => this.logger.error(`events wait; the relay failed: ${reason}`),
    end: () => this.logger.log('the relay works again'),
  });
  private readonly stopping = new AbortController();
  /** Ends the wait for new logs. */
  private wake = new AbortController();
  /** Ends the wait for the sink. */
  private giveUp: () => void = () => undefined;
  private isConnected = false;
  /** The last delay after a failure of the sink; 0 while it works. */
  private delayMs = 0;
  private refusedId: string | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly timeLogs: TimeLogRepository,
    private readonly sink: EventSink,
    @Inject(SOURCE_OF_EVENTS) private readonly source: string,
    @Inject(POLL_MS) private readonly pollMs: number,
    private readonly feed: FeedRepository,
  ) {
    const { name } = sink;
    this.standingBy = new OutageLatch({
      begin: () => this.logger.log(`another instance publishes events to ${name}: this one waits`),
      end: () => this.logger.log(`this instance publishes events to ${name} now`),
    });
  }

  /** The id of the event that the sink refused, and for which all others wait. */
  get heldUpBy(): string | undefined {
    return this.refusedId;
  }

  /** Throws an Error that says what to do if the DataSource lacks the entity. A host may connect it later. */
  onApplicationBootstrap(): void {
    if (this.database.isOpen && !this.database.knows(RelayCheckpoint))
      throw new Error(
        'the DataSource lacks the entities of the relay: add eventRelayEntities to its entities',
      );
    this.timeLogs.onChanged(() => this.wake.abort());
    this.running = inBackground(() => this.run());
  }

  /**
   * Starts to release the lease, so that another instance continues at once. The drain of requests
   * does not wait for it.
   */
  onModuleDestroy(): void {
    this.stopping.abort();
    this.wake.abort();
    setTimeout(() => this.giveUp(), STOP_TIMEOUT_MS).unref();
  }

  /** Waits until the lease is released: the DataSource closes after this hook. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.running;
  }

  private get isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const lease = await this.attempt(() => this.takeLease());
      if (lease) await this.relay(lease);
      else await sleep(this.pollMs, this.stopping);
    }
    // An error of a sink that closes must not break the shutdown.
    await this.sink.close().catch(() => undefined);
  }

  private async takeLease(): Promise<RelayLease | undefined> {
    const startedAt = performance.now();
    const { name } = this.sink;
    // Reads first: most instances find it taken, and a standby would log the refused update.
    const { isReadOnly, holder } = await RelayLease.stateOf(this.database, name);
    if (isReadOnly) return undefined;
    if (holder !== null && holder !== this.holder) {
      this.standingBy.begin(startedAt, name);
      return undefined;
    }
    const lease = await RelayLease.take(this.database, name, this.holder, 3 * this.pollMs);
    if (lease) this.standingBy.end(startedAt);
    return lease;
  }

  /** Publishes until the lease is lost or the app shuts down. */
  private async relay(lease: RelayLease): Promise<void> {
    while (!this.isStopped && lease.isHeld) {
      const pauseMs = this.sink.isStopped ? this.pollMs : await this.attempt(() => this.publishNext(lease));
      await sleep(pauseMs ?? this.pollMs, this.stopping);
    }
    this.refusedId = undefined;
    await this.attempt(() => lease.release());
  }

  /** Publishes the next page and saves its cursor. Returns the milliseconds until the next one. */
  private async publishNext(lease: RelayLease): Promise<number> {
    const startedAt = performance.now();
    if (!this.isConnected) {
      try {
        await this.untilStopped(this.sink.connect());
      } catch (error) {
        return this.fail(error);
      }
    }
    this.isConnected = true;
    this.wake = new AbortController();
    const limit = this.delayMs === 0 ? PAGE_EVENTS : 1;
    const events = await this.readAfter(lease, limit);
    const mayPublish = () => !this.isStopped && lease.isHeld;
    const page = new PagePublication(events, this.sink, this.source, mayPublish);
    await this.untilStopped(page.run());
    const { confirmedCount, failure } = page;
    const last = events[confirmedCount - 1];
    if (last) await lease.save({ position: last.position, logId: last.log.id });
    if (failure) return this.fail(failure.error, failure.event);
    if (confirmedCount === events.length) this.succeed();
    if (events.length === limit) return 0;
    await sleep(this.pollMs, this.wake);
    return Math.max(0, startedAt + READ_INTERVAL_MS - performance.now());
  }

  private async readAfter(lease: RelayLease, limit: number): Promise<readonly TimeLogEvent[]> {
    // A read from the beginning never fails with GONE.
    const from = lease.cursor.position === BEGINNING.position ? undefined : lease.cursor;
    try {
      return await this.feed.eventsAfter(from, limit);
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'GONE')) throw error;
      this.logger.warn(
        `the feed no longer reaches back to what ${this.sink.name} got last: all logs are published again, and consumers that keep a copy must start with an empty one`,
      );
      await lease.save(BEGINNING);
      return this.feed.eventsAfter(undefined, limit);
    }
  }

  private succeed(): void {
    if (this.delayMs > 0) this.logger.log(`events go to ${this.sink.name} again`);
    this.delayMs = 0;
    this.refusedId = undefined;
  }

  /** Logs a failure of the sink. Returns the milliseconds until the next attempt. */
  private fail(error: unknown, event?: TimeLogEvent): number {
    if (this.isStopped || this.sink.isStopped) return this.pollMs;
    const { first, longest } = this.sink.retryDelays ?? RETRY_DELAYS;
    const refusal = error instanceof EventRefusal ? error : undefined;
    const isNewRefusal = refusal !== undefined && event?.id !== this.refusedId;
    if (this.delayMs === 0 || isNewRefusal)
      this.logger.error(`events wait for ${this.sink.name}: ${reasonOf(error)}`);
    if (isNewRefusal) this.refusedId = event?.id;
    this.isConnected = false;
    this.delayMs = Math.min(longest, Math.max(first, refusal?.retryAfterMs ?? 2 * this.delayMs));
    return this.delayMs;
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

  /** Waits for the sink, after the stop for a limited time only. */
  private untilStopped(work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.giveUp = resolve;
      work.then(resolve, reject);
    });
  }
}

/** Resolves after a time, or when the controller aborts. */
async function sleep(milliseconds: number, { signal }: AbortController): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
