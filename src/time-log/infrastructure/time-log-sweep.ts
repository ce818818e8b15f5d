import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { inBackground } from '../../../libs/batching/src/index.js';
import { DomainError, reasonOf } from '../../../libs/errors/src/index.js';
import type { Database } from '../../database/index.js';
import { TimeLogKey } from './time-log.entities.js';

/** The maximum numbers of keys and logs in a statement, which takes about 20 and 100 ms. */
const MAX_KEYS = 1_000;
const MAX_LOGS = 8_192;
/** The time between two statements that remove keys, and between two removals. */
const KEY_PAUSE_MS = 100;
const KEY_REMOVAL_INTERVAL_MS = 60_000;
/** The number of removals after which one reads the whole index again: keys may have been skipped or dated back. */
const KEY_REMOVALS_PER_SCAN = 60;
/** A fold starts at this number of logs or after the delay, and pauses between statements. */
const FOLD = { minLogs: 2_048, maxDelayMs: 1_000, pauseMs: 10 };

/**
 * Removes expired idempotency keys, and folds appended changes into the counts, some rows at a time.
 * No request waits for it.
 */
export class TimeLogSweep {
  private readonly logger = new Logger(TimeLogSweep.name);
  /** The time of the next removal of keys, on the clock of `performance`. */
  private nextRemoval = 0;
  /** The creation time of the last removed key. Removals skip earlier index entries, which may be dead. */
  private lastRemoved = '-infinity';
  private removals = 0;
  /** The number of logs changed since the last fold began, and the timer of the next fold. */
  private changed = 0;
  private timer: NodeJS.Timeout | undefined;
  private isFolding = false;
  /** The number of logs of the next fold. It is halved after a failure, such as a timeout. */
  private foldSize = MAX_LOGS;

  constructor(
    private readonly database: Database,
    /** The lifetime of keys, an interval in SQL. */
    private readonly keyLifetime: string,
  ) {}

  /** Called after changes with the number of logs, and before counts are read. Does not block. */
  begin(logs = 0): void {
    this.changed += logs;
    if (this.changed >= FOLD.minLogs) this.fold();
    const isDue = performance.now() >= this.nextRemoval;
    // Other instances write too, so check regularly.
    if (logs > 0 || isDue) this.timer ??= setTimeout(() => this.fold(), FOLD.maxDelayMs).unref();
    if (!isDue) return;
    this.nextRemoval = performance.now() + KEY_REMOVAL_INTERVAL_MS;
    if (++this.removals % KEY_REMOVALS_PER_SCAN === 0) this.lastRemoved = '-infinity';
    void inBackground(() => this.repeat(() => this.removeExpiredKeys(), MAX_KEYS, KEY_PAUSE_MS));
  }

  private fold(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isFolding) return;
    [this.isFolding, this.changed] = [true, 0];
    void inBackground(() => this.repeat(() => this.foldCounts(), MAX_LOGS, FOLD.pauseMs)).finally(
      () => (this.isFolding = false),
    );
  }

  /** Repeats a statement until it affects fewer rows than its limit. */
  private async repeat(act: () => Promise<number>, limit: number, pauseMs: number): Promise<void> {
    try {
      // A timer may fire after the host has closed the DataSource, which is not an outage.
      while (this.database.isOpen && (await act()) >= limit) await delay(pauseMs, undefined, { ref: false });
    } catch (error) {
      // An outage of the database is logged elsewhere. The next sweep continues.
      if (error instanceof DomainError) return;
      this.logger.warn(`sweep failed: ${reasonOf(error)}`);
    }
  }

  /** Removes the oldest keys first, and skips those that another instance is removing. */
  private async removeExpiredKeys(): Promise<number> {
    const keys = this.database.table(TimeLogKey);
    const [row] = await this.database.change<{ removed: number; last: string | null }>(
      `with expired as (
         select principal, text from ${keys}
          where created_at >= $1::timestamptz and created_at < now() - ${this.keyLifetime}
          order by created_at limit ${MAX_KEYS} for update skip locked
       ), removed as (delete from ${keys} keys using expired
           where keys.principal = expired.principal and keys.text = expired.text returning keys.created_at)
       select count(*)::int as removed, max(created_at)::text as last from removed`,
      [this.lastRemoved],
    );
    this.lastRemoved = row!.last ?? this.lastRemoved;
    return row!.removed;
  }

  private async foldCounts(): Promise<number> {
    const size = this.foldSize;
    this.foldSize = Math.max(1, Math.floor(size / 2));
    const [row] = await this.database.change<{ folded: number }>(
      `select ${this.database.routine('fold_time_log_counts')}($1) as folded`,
      [size],
    );
    this.foldSize = Math.min(MAX_LOGS, 2 * size);
    // A smaller fold that was full continues too.
    return row!.folded < size ? 0 : MAX_LOGS;
  }
}
