import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DomainError, reasonOf } from '../../../libs/errors/src/index.js';
import type { Database } from '../../database/index.js';
import { KEY_LIFETIME, TimeLogKey } from './time-log-key.entity.js';

/** The most rows of one statement that removes keys, and the number of logs of one that folds: some 20 and 100 ms. */
const KEYS = 1_000;
const LOGS = 8_192;
/** Milliseconds between two statements, and from the start of one removal of keys to the start of the next. */
const REST = 100;
const PAUSE = 60_000;
/** Changes wait for a fold until so many logs wait, but no longer than so many milliseconds; and the rest between folds. */
const FOLD = { logs: 2_048, after: 1_000, rest: 10 };

/**
 * Tidies up after writes, some rows at a time: removes expired idempotency keys, and folds the changes that were appended
 * into the counts. Nobody waits for it.
 */
export class TimeLogSweep {
  private readonly logger = new Logger(TimeLogSweep.name);
  /** On the clock of `performance`. */
  private next = 0;
  /** How many logs have changed since the last fold began, and what will begin the next one. */
  private changed = 0;
  private timer: NodeJS.Timeout | undefined;
  private isFolding = false;
  /** The number of logs of the next fold: half as many after one that has failed, as by a timeout. */
  private foldSize = LOGS;

  constructor(private readonly database: Database) {}

  /** Called after a statement that has changed so many logs, and before one that reads counts. Returns at once. */
  begin(logs = 0): void {
    this.changed += logs;
    if (this.changed >= FOLD.logs) this.fold();
    const isDue = performance.now() >= this.next;
    // Others write too: look now and then.
    if (logs > 0 || isDue) this.timer ??= setTimeout(() => this.fold(), FOLD.after).unref();
    if (!isDue) return;
    this.next = performance.now() + PAUSE;
    void this.toTheEnd(() => this.removeExpiredKeys(), KEYS);
  }

  private fold(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isFolding) return;
    [this.isFolding, this.changed] = [true, 0];
    void this.toTheEnd(() => this.foldCounts(), LOGS, FOLD.rest).finally(() => (this.isFolding = false));
  }

  private async toTheEnd(act: () => Promise<number>, most: number, rest = REST): Promise<void> {
    try {
      // A timer may run out after its host has closed the DataSource, which is no outage.
      while (this.database.isOpen && (await act()) >= most) await delay(rest, undefined, { ref: false });
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
          order by created_at limit ${KEYS} for update skip locked
       ), removed as (delete from ${keys} keys using expired
           where keys.principal = expired.principal and keys.text = expired.text returning 1)
       select from removed`,
    );
    return removed.length;
  }

  private async foldCounts(): Promise<number> {
    const size = this.foldSize;
    this.foldSize = Math.max(1, Math.floor(size / 2));
    const [row] = await this.database.change<{ folded: number }>(
      `select ${this.database.routine('fold_time_log_counts')}($1) as folded`,
      [size],
    );
    this.foldSize = Math.min(LOGS, 2 * size);
    // A smaller one that was full goes on too.
    return row!.folded < size ? 0 : LOGS;
  }
}
