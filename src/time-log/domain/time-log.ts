import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { CalendarDate } from './calendar-date.js';
import { dateFault, descriptionFault, durationFault, projectIdFault } from './time-log.rules.js';

/** What a caller states about a piece of work. */
export interface TimeLogValues {
  /** Any UUID. Projects live elsewhere: whether it exists is not checked. */
  readonly projectId: string;
  /** Positive and finite; the unit is the caller's. */
  readonly duration: number;
  /** At most 5000 code points. */
  readonly description: string;
  /** The day of the work. */
  readonly date: CalendarDate;
}

/** A finished, immutable record of work. */
export class TimeLog implements TimeLogValues {
  /** UUIDv7 (RFC 9562, section 5.7): its first 48 bits are the instant of creation in milliseconds. */
  readonly id!: string;
  readonly projectId!: string;
  readonly duration!: number;
  readonly description!: string;
  readonly date!: CalendarDate;

  private constructor() {
    // TypeORM calls it too, without values: it must not throw, and the rules live in record().
  }

  /** A new log under a UUIDv7. Throws DomainError VALIDATION_ERROR with one message per failing value. */
  static record(values: TimeLogValues, id: string): TimeLog {
    const faults = [
      projectIdFault(values.projectId),
      durationFault(values.duration),
      descriptionFault(values.description),
      dateFault(values.date),
    ].filter((fault) => fault !== undefined);
    if (faults.length > 0) throw new DomainError('VALIDATION_ERROR', faults.join('; '));
    const { duration, description, date } = values;
    return TimeLog.restore({ id, projectId: values.projectId.toLowerCase(), duration, description, date });
  }

  /** A log as it was stored. */
  static restore(stored: TimeLogValues & { readonly id: string }): TimeLog {
    return Object.assign(new TimeLog(), stored);
  }

  /** The instant inside the id, UTC, in milliseconds: there is no second look at the clock that could differ. */
  get createdAt(): Date {
    return new Date(Number.parseInt(this.id.slice(0, 8) + this.id.slice(9, 13), 16));
  }
}
