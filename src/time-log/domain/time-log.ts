import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { CalendarDate } from './calendar-date.js';
import { dateFault, descriptionFault, durationFault, projectIdFault } from './time-log.rules.js';

/** What a caller states about a piece of work. A value that came after version 0.1 is optional here. */
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

/** Every value of a log. */
export type AllTimeLogValues = Required<TimeLogValues>;
/** What is stored of a log. */
export type StoredTimeLog = AllTimeLogValues & Pick<TimeLog, 'id'>;

interface Field {
  /** What is wrong with a value, or undefined where nothing is. */
  readonly fault: (value: unknown) => string | undefined;
  /** The one form in which equal values are kept; without it they are kept as they are given. */
  readonly kept?: (value: never) => unknown;
  /** What a value counts as that is left out. */
  readonly default?: unknown;
}

/** A value that may be left out has a default. */
type FieldOf<Name extends keyof TimeLogValues> = Field & {
  readonly kept?: (value: AllTimeLogValues[Name]) => AllTimeLogValues[Name];
} & (object extends Pick<TimeLogValues, Name>
    ? { readonly default: AllTimeLogValues[Name] }
    : { readonly default?: never });

/**
 * The values of a log, each once, in the order of messages and of the fingerprint. A new one goes to the end, and its
 * default keeps it out of the fingerprint of older requests. The compiler names the other places that it needs.
 */
export const TIME_LOG_FIELDS = {
  projectId: { fault: projectIdFault, kept: (id: string) => id.toLowerCase() },
  duration: { fault: durationFault },
  description: { fault: descriptionFault },
  date: { fault: dateFault },
} satisfies { readonly [Name in keyof TimeLogValues]-?: FieldOf<Name> };

/** A table of fields as it is walked through. */
export type FieldTable = Readonly<Record<string, Field>>;

const DEFAULTS = Object.fromEntries(
  Object.entries<Field>(TIME_LOG_FIELDS)
    .filter(([, field]) => field.default !== undefined)
    .map(([name, field]) => [name, field.default]),
);

/** A finished, immutable record of work. */
export class TimeLog implements AllTimeLogValues {
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
    const faults = Object.entries<Field>(TIME_LOG_FIELDS)
      .map(([name, field]) => field.fault(given(values, name, field)))
      .filter((fault) => fault !== undefined);
    if (faults.length > 0) throw new DomainError('VALIDATION_ERROR', faults.join('; '));
    return TimeLog.restore({ id, ...keptValues(values) });
  }

  /** A log without any value, for a repository that puts in all of them: one object less for each log that is read. */
  static blank(): TimeLog {
    return new TimeLog();
  }

  /** A log as it was stored; a value that came later than what stored it has its default. */
  static restore(stored: TimeLogValues & Pick<TimeLog, 'id'>): TimeLog {
    return Object.assign(new TimeLog(), DEFAULTS, stored);
  }

  /** The instant inside the id, UTC, in milliseconds: there is no second look at the clock that could differ. */
  get createdAt(): Date {
    return new Date(Number.parseInt(this.id.slice(0, 8) + this.id.slice(9, 13), 16));
  }
}

/** Good values in the form in which they are kept: each field, and nothing else. */
export function keptValues(values: TimeLogValues, fields: FieldTable = TIME_LOG_FIELDS): AllTimeLogValues {
  const kept = Object.entries(fields).map(([name, field]) => {
    const value = given(values, name, field);
    return [name, field.kept ? field.kept(value as never) : value];
  });
  return Object.fromEntries(kept) as AllTimeLogValues;
}

function given(values: TimeLogValues, name: string, field: Field): unknown {
  const value: unknown = Reflect.get(values, name);
  return value === undefined ? field.default : value;
}
