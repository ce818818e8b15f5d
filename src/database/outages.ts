import { Logger } from '@nestjs/common';
import { reasonOf } from '../../libs/errors/src/index.js';
import type { ChangeOptions } from './statements.js';
import { isCanceled, isConcurrencyConflict, isReadOnlyError, isServerError } from './unavailability.js';

/** The interval between attempts to change something while the server is read-only. */
const RETRY_INTERVAL_MS = 500;

/** The quiet time of replicas: while one of them is away, the others still answer some of the reads. */
const REPLICA_QUIET_MS = 10_000;

/** The reason that is logged if the server has written commits, but waits for a standby. */
const STANDBY_MISSING =
  'commits wait for a synchronous standby: restore it, or remove it from synchronous_standby_names';

/** Reports an outage when it begins and when it ends, not for each operation that fails. */
export class OutageLatch {
  private isOn = false;
  /** The time of the last change or, with a quiet time, of the last failure (`performance.now()`). */
  private changedAt = -Infinity;

  constructor(
    private readonly report: { readonly begin: (reason: string) => void; readonly end: () => void },
    /** The time in milliseconds without a failure after which a success ends the outage. */
    private readonly quietMs = 0,
  ) {}

  /** Records a failed operation. Ignored if it started before the last change. */
  begin(since: number, reason: string): void {
    if (this.isOn && this.quietMs > 0) this.changedAt = performance.now();
    if (this.isOn || since < this.changedAt) return;
    this.isOn = true;
    this.changedAt = performance.now();
    this.report.begin(reason);
  }

  /** Records that an operation that started at `since` succeeded. */
  end(since: number): void {
    if (!this.isOn || since < this.changedAt + this.quietMs) return;
    this.isOn = false;
    this.changedAt = performance.now();
    this.report.end();
  }
}

/** The outages of the database. All times are those of `performance.now()`. */
export class Outages {
  private readonly logger = new Logger('Database');
  private readonly any: OutageLatch;
  /** The server accepts reads only: it is a standby, or its disk is full. */
  private readonly ofChanges = new OutageLatch({
    begin: (reason) => this.logger.error(`database takes no changes: ${reason}`),
    end: () => this.logger.log('database takes changes again'),
  });
  /** A change took too long. Others may be in time. */
  private readonly ofSlowChanges = new OutageLatch({
    begin: (reason) => this.logger.warn(`a change took too long: ${reason}`),
    end: () => undefined,
  });
  /** The time of the next attempt to change something on a read-only server. */
  private nextAttempt: number | undefined;

  constructor(server: 'database' | 'read replica') {
    const report = {
      begin: (reason: string) => this.logger.error(`${server} unavailable: ${reason}`),
      end: () => this.logger.log(`${server} available again`),
    };
    this.any = new OutageLatch(report, server === 'database' ? 0 : REPLICA_QUIET_MS);
  }

  get isReadOnly(): boolean {
    return this.nextAttempt !== undefined;
  }

  /** Returns whether a change may be sent to a server that was read-only, and postpones the next. */
  attempt(now: number): boolean {
    if (now < this.nextAttempt!) return false;
    this.nextAttempt = now + RETRY_INTERVAL_MS;
    return true;
  }

  /** Records a failed statement. A change has options, which may be empty. */
  begin(since: number, error: unknown, change?: ChangeOptions): void {
    if (change && isReadOnlyError(error)) this.nextAttempt = performance.now() + RETRY_INTERVAL_MS;
    if (change?.lockTimeout !== undefined && isConcurrencyConflict(error)) return;
    const ofChange = isCanceled(error) ? this.ofSlowChanges : this.ofChanges;
    const outage = change && isServerError(error) ? ofChange : this.any;
    outage.begin(since, reasonOf(error));
  }

  /** Records that a commit waits for a synchronous standby. */
  missStandby(since: number): void {
    this.ofChanges.begin(since, STANDBY_MISSING);
  }

  /** Records a statement that succeeded. */
  end(since: number, isChange: boolean): void {
    this.any.end(since);
    if (!isChange) return;
    this.nextAttempt = undefined;
    this.ofChanges.end(since);
    this.ofSlowChanges.end(since);
  }
}
