import { DomainError } from '../../../libs/errors/src/domain-error.js';
import { hasInput, inputOf, keepInput } from './attribute-input.js';
import type { CalendarDate } from './calendar-date.js';
import { isoText } from './iso-text.js';
import { dateFault, descriptionFault, durationFault, projectIdFault } from './time-log.rules.js';

/** What a log has beside its own values, in the form that a host has chosen: JSON. */
export type Attributes = Readonly<Record<string, unknown>>;

/** What a caller says about a piece of work. Values with a default are optional here. */
export interface TimeLogValues {
  /** Any UUID. Projects live elsewhere: nobody checks whether it exists. */
  readonly projectId: string;
  /** Positive and finite; the unit is the caller's. */
  readonly duration: number;
  /** At most 5000 code points. Left out: empty. */
  readonly description?: string | undefined;
  /** The day of the work. */
  readonly date: CalendarDate;
  /** Only where the host has a schema for them. */
  readonly attributes?: Attributes | undefined;
}

/** The values that every log has. */
type OwnValues = Omit<TimeLogValues, 'attributes'>;

/** Every value of a log. */
export type AllTimeLogValues = {
  readonly [Name in keyof OwnValues]-?: Exclude<OwnValues[Name], undefined>;
} & Pick<TimeLogValues, 'attributes'>;

declare const CHECKED: unique symbol;
/** All values of a log, checked once and in the form in which they are stored. `check` and `takeChecked` make them. */
export type CheckedValues = AllTimeLogValues & { readonly [CHECKED]: true };

/** The stored form of a log. */
export type StoredTimeLog = AllTimeLogValues & Pick<TimeLog, 'id'>;

interface Field {
  /** Returns what is wrong with a value, or undefined. */
  readonly fault: (value: unknown) => string | undefined;
  /** Brings equal values into one form for storage. Without it they are stored as given. */
  readonly normalized?: (value: never) => unknown;
  /** The value if it is left out. */
  readonly default?: unknown;
  /** False for what an item of a list does not tell. */
  readonly isListed?: false;
}

/** A value that may be left out has a default. */
type FieldOf<Name extends keyof OwnValues> = Field & {
  readonly normalized?: (value: AllTimeLogValues[Name]) => AllTimeLogValues[Name];
} & (object extends Pick<OwnValues, Name>
    ? { readonly default: AllTimeLogValues[Name] }
    : { readonly default?: never });

/**
 * The values that every log has, each once, in the order of messages and of the fingerprint. Add a new one at the end.
 * Its default keeps it out of the fingerprint of older requests. The compiler names all other places that need a
 * change.
 */
export const TIME_LOG_FIELDS = {
  projectId: { fault: projectIdFault, normalized: (id: string) => id.toLowerCase() },
  duration: { fault: durationFault },
  description: { fault: descriptionFault, default: '' },
  // The contract leaves it out of lists.
  date: { fault: dateFault, isListed: false },
} satisfies { readonly [Name in keyof OwnValues]-?: FieldOf<Name> };

/** The table of fields, by their names. */
export type FieldTable = Readonly<Record<string, Field>>;

const TABLE: FieldTable = TIME_LOG_FIELDS;
const DEFAULTS = Object.fromEntries(
  Object.entries(TABLE)
    .filter(([, field]) => field.default !== undefined)
    .map(([name, field]) => [name, field.default]),
);

/** On every log, whichever build made it: a process may load ES modules and CommonJS. */
const BRAND = Symbol.for('time-logs.TimeLog');

/** A finished, immutable record of work. */
export class TimeLog implements AllTimeLogValues {
  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** UUIDv7 (RFC 9562, section 5.7): its first 48 bits are the instant of creation in milliseconds. */
  readonly id!: string;
  readonly projectId!: string;
  readonly duration!: number;
  readonly description!: string;
  readonly date!: CalendarDate;
  /** Absent where the log has none. */
  declare readonly attributes?: Attributes;

  private constructor() {
    // TypeORM calls it too, without values. So it must not throw, and record() applies the rules.
  }

  /** `instanceof` knows the logs of every build. The prototype is no log: TypeORM asks to find child entities. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  /**
   * Returns a log with these values, new or corrected, under a UUIDv7. Attributes are stored as they are: the schema of
   * the host has decided about them before. Throws like `check`, unless the values are checked.
   */
  static record(values: TimeLogValues, id: string): TimeLog {
    const checked = areChecked(values) ? values : check(values, inputOf(values));
    const log = Object.assign(new TimeLog(), { id }, checked);
    const input = inputOf(checked);
    if (input !== log.attributes) keepInput(log, input);
    return log;
  }

  /** A log without values, for a repository that sets all of them. It saves an object for each log that is read. */
  static blank(): TimeLog {
    return new TimeLog();
  }

  /** A log as it was stored. A value that its version did not have yet gets its default. */
  static restore(stored: TimeLogValues & Pick<TimeLog, 'id'>): TimeLog {
    return Object.assign(new TimeLog(), DEFAULTS, stored);
  }

  /** The moment inside the id, UTC, in milliseconds. A second look at the clock could differ. */
  get createdAt(): Date {
    return new Date(createdAtOf(this.id));
  }

  /** Returns all that a host's log has, and `createdAt`, unless a query has left out the id. */
  toJSON(): object {
    const stored: { readonly id?: string } = { ...(this as object) };
    return stored.id === undefined ? stored : { ...stored, createdAt: isoText(createdAtOf(this.id)) };
  }
}

/** The moment inside the id of a log, in milliseconds since 1970. */
export function createdAtOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Throws DomainError VALIDATION_ERROR where the code of a host gives no values, but something else. */
export function requireObject(values: unknown): void {
  if (typeof values !== 'object' || values === null) {
    throw new DomainError('VALIDATION_ERROR', 'the values of a time log must be an object');
  }
}

/**
 * Checks values but their attributes, for which the schema was given this input. Throws DomainError VALIDATION_ERROR
 * with one message for each wrong value.
 */
export function check(values: TimeLogValues, input: unknown): CheckedValues {
  const faults = faultsOf(values);
  if (faults.length > 0) throw new DomainError('VALIDATION_ERROR', faults.join('; '));
  return takeChecked(values, input);
}

/** Marks and normalizes values that a DTO has checked by the rules of `TIME_LOG_FIELDS`. A copy has no mark. */
export function takeChecked(values: TimeLogValues, input?: unknown): CheckedValues {
  const checked = normalizedValues(values);
  keepInput(checked, input);
  return checked as CheckedValues;
}

/** Returns whether values need no further check. Those of a log do: a host may have changed its attributes. */
export function areChecked(values: TimeLogValues): values is CheckedValues {
  return hasInput(values) && !(values instanceof TimeLog);
}

/** One message for each wrong value. Attributes are not looked at. */
export function faultsOf(values: TimeLogValues): string[] {
  const faults: string[] = [];
  for (const name in TABLE) {
    const field = TABLE[name]!;
    const fault = field.fault(given(values, name, field));
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}

/** Valid values in their stored form: every field, the attributes where there are some, and nothing else. */
export function normalizedValues(
  values: TimeLogValues,
  fields: FieldTable = TIME_LOG_FIELDS,
): AllTimeLogValues {
  const normalized: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name]!;
    const value = given(values, name, field);
    normalized[name] = field.normalized ? field.normalized(value as never) : value;
  }
  if (values.attributes !== undefined) normalized.attributes = values.attributes;
  return normalized as AllTimeLogValues;
}

function given(values: TimeLogValues, name: string, field: Field): unknown {
  const value: unknown = Reflect.get(values, name);
  return value === undefined ? field.default : value;
}
