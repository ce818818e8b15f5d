import { type Fault, validationError } from '../../../libs/errors/src/domain-error.js';
import {
  type CalendarDate,
  dateFault,
  descriptionFault,
  durationFault,
  projectIdFault,
} from './time-log.rules.js';

/** Additional values of a log, as JSON. The schema of a host defines them. */
export type Attributes = Readonly<Record<string, unknown>>;

/** The values of a log as a caller passes them. Values with a default are optional. */
export interface TimeLogValues<A extends Attributes = Attributes> {
  /** Any UUID. The project need not exist. */
  readonly projectId: string;
  /** Positive and finite, in a unit that the caller chooses. */
  readonly duration: number;
  /** At most 5000 code points. The default is empty. */
  readonly description?: string | undefined;
  /** The day of the work. */
  readonly date: CalendarDate;
  /** JSON that the core stores without looking into it. Allowed only if a host has a schema for it. */
  readonly attributes?: A | undefined;
}

/** The values that every log has. */
type OwnValues = Omit<TimeLogValues, 'attributes'>;

/** Every value of a log. */
export type AllTimeLogValues<A extends Attributes = Attributes> = {
  readonly [Name in keyof OwnValues]-?: Exclude<OwnValues[Name], undefined>;
} & Pick<TimeLogValues<A>, 'attributes'>;

/** The attributes of a log: the input of a schema, to which the values of a bound caller are added, and its output. */
export interface ConvertedAttributes {
  readonly faults: readonly Fault[];
  readonly input?: Attributes | undefined;
  readonly output?: Attributes | undefined;
}

/** The stored form of a log. */
export type StoredTimeLog = AllTimeLogValues & Pick<TimeLog, 'id'>;

interface Field {
  /** Returns the fault of a value, or undefined. */
  readonly fault: (value: unknown) => Fault | undefined;
  /** Converts equal values to one stored form. */
  readonly normalize?: (value: never) => unknown;
  /** The value if it is missing. */
  readonly default?: unknown;
  /** False if items of lists do not have the field. */
  readonly isListed?: false;
}

/** A field with its types. An optional value has a default. */
type FieldOf<Name extends keyof OwnValues> = Field & {
  readonly normalize?: (value: AllTimeLogValues[Name]) => AllTimeLogValues[Name];
} & (object extends Pick<OwnValues, Name>
    ? { readonly default: AllTimeLogValues[Name] }
    : { readonly default?: never });

/**
 * The fields of every log, in the order of error messages and of the fingerprint. Add new ones at the end. The
 * default keeps a field out of the fingerprint of older requests. The compiler lists the other places to change.
 */
export const TIME_LOG_FIELDS = {
  projectId: { fault: projectIdFault, normalize: (id: string) => id.toLowerCase() },
  duration: { fault: durationFault },
  description: { fault: descriptionFault, default: '' },
  // The contract does not include it in lists.
  date: { fault: dateFault, isListed: false },
} satisfies { readonly [Name in keyof OwnValues]-?: FieldOf<Name> };

/** The names of all values of a log, in their order. */
export const VALUE_NAMES = [...(Object.keys(TIME_LOG_FIELDS) as (keyof OwnValues)[]), 'attributes'] as const;

/** Fields by their names. */
export type FieldTable = Readonly<Record<string, Field>>;

const FIELDS = Object.entries<Field>(TIME_LOG_FIELDS);
const DEFAULTS = Object.fromEntries(
  FIELDS.filter(([, field]) => field.default !== undefined).map(([name, field]) => [name, field.default]),
);

/** The mark of logs. All builds share it, since a process may load ES modules and CommonJS. */
const BRAND = Symbol.for('time-logs.TimeLog');

/** An immutable record of work. */
export class TimeLog<A extends Attributes = Attributes> implements AllTimeLogValues<A> {
  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** A UUIDv7 (RFC 9562, section 5.7): its first 48 bits are the time of creation in milliseconds. */
  readonly id!: string;
  readonly projectId!: string;
  readonly duration!: number;
  readonly description!: string;
  readonly date!: CalendarDate;
  /** Missing if the log has none. */
  declare readonly attributes?: A;

  private constructor() {
    // TypeORM calls it without values, so it must not throw. of() applies the rules.
  }

  /** Accepts the logs of every build, but not the prototype, which TypeORM checks to find child entities. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  /**
   * Returns a new or corrected log with these values and a UUIDv7. Throws DomainError VALIDATION_ERROR with one message
   * for each invalid value. Attributes are those of the values, unless a schema has converted them.
   */
  static of(values: TimeLogValues, id: string, attributes?: ConvertedAttributes): TimeLog {
    const log = TimeLog.ofOrFaults(values, id, attributes);
    if (log instanceof TimeLog) return log;
    throw validationError(log);
  }

  /** Returns the same log, or the faults of the values. Those of attributes come last. */
  static ofOrFaults(
    values: TimeLogValues,
    id: string,
    attributes: ConvertedAttributes = { faults: [], output: values.attributes },
  ): TimeLog | readonly Fault[] {
    const faults = [...faultsOf(values), ...attributes.faults];
    if (faults.length > 0) return faults;
    const log = new TimeLog();
    (log as { id: string }).id = id;
    normalizeInto(log, values, FIELDS);
    if (attributes.output !== undefined) (log as { attributes?: Attributes }).attributes = attributes.output;
    return log;
  }

  /** Returns a log without values, for a repository that sets them without another object. */
  static blank(): TimeLog {
    return new TimeLog();
  }

  /** Returns a stored log. Fields that its version did not have get their defaults. */
  static restore(stored: TimeLogValues & Pick<TimeLog, 'id'>): TimeLog {
    return Object.assign(new TimeLog(), DEFAULTS, stored);
  }

  /** The time of creation, taken from the id. */
  get createdAt(): Date {
    return new Date(createdAtOf(this.id));
  }

  /** Returns all fields and, unless a query did not select the id, `createdAt`. */
  toJSON(): object {
    const stored: { readonly id?: string } = { ...(this as object) };
    return stored.id === undefined ? stored : { ...stored, createdAt: isoText(createdAtOf(this.id)) };
  }
}

/** Returns the time inside the id of a log, in milliseconds since 1970. */
export function createdAtOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function faultsOf(values: TimeLogValues): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [name, field] of FIELDS) {
    const fault = field.fault(valueOrDefault(values, name, field));
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}

/** Returns valid values in their stored form: every field, attributes if there are any, and nothing else. */
export function normalizedValues(
  values: TimeLogValues,
  fields: FieldTable = TIME_LOG_FIELDS,
): AllTimeLogValues {
  const normalized: Record<string, unknown> = {};
  normalizeInto(normalized, values, fields === TIME_LOG_FIELDS ? FIELDS : Object.entries(fields));
  if (values.attributes !== undefined) normalized.attributes = values.attributes;
  return normalized as unknown as AllTimeLogValues;
}

function normalizeInto(
  target: object,
  values: TimeLogValues,
  fields: readonly (readonly [name: string, field: Field])[],
): void {
  for (const [name, field] of fields) {
    const value = valueOrDefault(values, name, field);
    (target as Record<string, unknown>)[name] = field.normalize ? field.normalize(value as never) : value;
  }
}

function valueOrDefault(values: TimeLogValues, name: string, field: Field): unknown {
  const value = (values as unknown as Readonly<Record<string, unknown>>)[name];
  return value === undefined ? field.default : value;
}

const DAY_MS = 86_400_000;
const padded = (length: number, digits: number) =>
  Array.from({ length }, (_, number) => String(number).padStart(digits, '0'));
const SECONDS = padded(60, 2);
/** The hours and minutes of each minute of a day. */
const MINUTES = padded(24, 2).flatMap((hour) => SECONDS.map((minute) => `${hour}:${minute}:`));
const THOUSANDTHS = padded(1_000, 3);

let cachedDay = NaN;
/** The text of that day, with the `T`. */
let datePart = '';

/**
 * Returns the same text as `Date.toISOString`, in a fifth of its time: the logs of a page are from few days, so
 * only the time of day is computed for each.
 */
export function isoText(milliseconds: number): string {
  const currentDay = Math.floor(milliseconds / DAY_MS);
  if (currentDay !== cachedDay) {
    datePart = new Date(milliseconds).toISOString().slice(0, -13);
    cachedDay = currentDay;
  }
  const time = milliseconds - currentDay * DAY_MS;
  const seconds = Math.floor(time / 1_000);
  const minutes = Math.floor(seconds / 60);
  return `${datePart}${MINUTES[minutes]}${SECONDS[seconds % 60]}.${THOUSANDTHS[time % 1_000]}Z`;
}
