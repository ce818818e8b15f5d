import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DomainError, reasonOf } from '../../../libs/errors/src/index.js';
import type { Database } from '../../database/index.js';
import { KEY_LIFETIME, TimeLogKey } from './time-log-key.entity.js';

/** The most rows of one statement, which takes some 20 ms. */
const BATCH = 1_000;
/** Milliseconds between two statements, and from the start of one sweep to the start of the next. */
const REST = 100;
const PAUSE = 60_000;

/**
 * Tidies up after writes, some rows at a time: removes expired idempotency keys, and folds the slots of counts that
 * many concurrent transactions have left. Nobody waits for it. Without writes there is nothing to tidy.
 */
export class TimeLogSweep {
  private readonly logger = new Logger(TimeLogSweep.name);
  /** On the clock of `performance`. */
  private next = 0;

  constructor(private readonly database: Database) {}

  /** Begins a sweep if the last one is long enough ago. Returns at once. */
  begin(): void {
    if (performance.now() < this.next) return;
    this.next = performance.now() + PAUSE;
    void this.toTheEnd(() => this.removeExpiredKeys());
    void this.toTheEnd(() => this.foldCounts());
  }

  private async toTheEnd(act: () => Promise<number>): Promise<void> {
    try {
      while ((await act()) === BATCH) await delay(REST, undefined, { ref: false });
    } catch (error) {
      // An outage of the database is logged elsewhere. The next sweep goes on.
      if (error instanceof DomainError) return;
      this.logger.warn(`sweep failed: ${reasonOf(error)}`);
    }
  }

  /** Takes the oldest first, and skips those that another instance is removing. */
  private async removeExpiredKeys(): Promise<number> {
    const keys = this.database.table(TimeLogKey);
    const removed = await this.database.change<unknown>(
      `with expired as (
         select principal, text from ${keys} where created_at < now() - ${KEY_LIFETIME}
          order by created_at limit ${BATCH} for update skip locked
       ), removed as (delete from ${keys} keys using expired
           where keys.principal = expired.principal and keys.text = expired.text returning 1)
       select from removed`,
    );
    return removed.length;
  }

  private async foldCounts(): Promise<number> {
    const [row] = await this.database.change<{ folded: number }>(
      `select ${this.database.routine('fold_time_log_counts')}($1) as folded`,
      [BATCH],
    );
    return row!.folded;
  }
}
