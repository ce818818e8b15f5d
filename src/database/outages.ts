import { Logger } from '@nestjs/common';
import { reasonOf } from '../../libs/errors/src/index.js';
import { isConcurrencyConflict, isDriverTimeout, isReadOnlyError, isServerError } from './unavailability.js';

/** The interval between attempts to change something while the server is read-only. */
const RETRY_INTERVAL_MS = 500;

/** Reports an outage when it begins and when it ends, not for each operation that fails. */
export class OutageLatch {
  private isOn = false;
  /** The time of the last change (`performance.now()`). */
  private changedAt = -Infinity;

  constructor(
    private readonly report: { readonly begin: (reason: string) => void; readonly end: () => void },
  ) {}

  /** Records a failed operation. Ignored if it started before the last change. */
  begin(since: number, reason: string): void {
    if (this.isOn || since < this.changedAt) return;
    this.isOn = true;
    this.changedAt = performance.now();
    this.report.begin(reason);
  }

  /** Records that an operation that started at `since` succeeded. */
  end(since: number): void {
    if (!this.isOn || since < this.changedAt) return;
    this.isOn = false;
    this.changedAt = performance.now();
    this.report.end();
  }
}

/** The outages of the database. All times are those of `performance.now()`. */
export class Outages {
  private readonly logger = new Logger('Database');
  private readonly any = new OutageLatch({
    begin: (reason) => this.logger.error(`database unavailable: ${reason}`),
    end: () => this.logger.log('database available again'),
  });
  /** The server accepts reads only: it is a standby, its disk is full, or commits wait for a standby. */
  private readonly ofChanges = new OutageLatch({
    begin: (reason) => this.logger.error(`database takes no changes: ${reason}`),
    end: () => this.logger.log('database takes changes again'),
  });
  /** The time of the next attempt to change something on a read-only server. */
  private nextAttempt: number | undefined;

  get isReadOnly(): boolean {
    return this.nextAttempt !== undefined;
  }

  /** Returns whether a change may be sent to a server that was read-only, and postpones the next one. */
  attempt(now: number): boolean {
    if (now < this.nextAttempt!) return false;
    this.nextAttempt = now + RETRY_INTERVAL_MS;
    return true;
  }

  /** Records a failed statement. One that met a lock or another transaction shows no outage. */
  begin(since: number, error: unknown, isChange: boolean): void {
    if (isConcurrencyConflict(error)) return;
    if (isChange && isReadOnlyError(error)) this.nextAttempt = performance.now() + RETRY_INTERVAL_MS;
    const areReadsFine = isChange && (isServerError(error) || isDriverTimeout(error));
    (areReadsFine ? this.ofChanges : this.any).begin(since, reasonOf(error));
  }

  /** Records a statement that succeeded. */
  end(since: number, isChange: boolean): void {
    this.any.end(since);
    if (!isChange) return;
    this.nextAttempt = undefined;
    this.ofChanges.end(since);
  }
}
