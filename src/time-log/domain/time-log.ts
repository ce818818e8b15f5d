import { isDeepStrictEqual } from 'node:util';
import { type Fault, throwFaults } from '../../../libs/errors/src/domain-error.js';
import { isoText } from './iso-text.js';
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

/** The key of what was sent, on checked values and on logs. All builds share it. */
const SENT = Symbol.for('time-logs.input of attributes');

/** All values of a log, checked and normalized by `check` or `markChecked`. */
export type CheckedValues = AllTimeLogValues & Required<MaybeChecked>;

/** The mark of checked values, with the attributes as sent and, if a hook has replaced them, the other values. */
interface MaybeChecked {
  readonly [SENT]?: { readonly input: unknown; readonly values?: AllTimeLogValues };
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

const TABLE: FieldTable = TIME_LOG_FIELDS;
const DEFAULTS = Object.fromEntries(
  Object.entries(TABLE)
    .filter(([, field]) => field.default !== undefined)
    .map(([name, field]) => [name, field.default]),
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
    // TypeORM calls it without values, so it must not throw. record() applies the rules.
  }

  /** Accepts the logs of every build, but not the prototype, which TypeORM checks to find child entities. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in (Object.getPrototypeOf(value) ?? {});
  }

  /**
   * Returns a new or corrected log with these values and a UUIDv7. It does not check attributes, which is the
   * task of the schema. Throws like `check`, unless the values are checked.
   */
  static record(values: TimeLogValues, id: string): TimeLog {
    const checked = areChecked(values) ? values : check(values, sentAttributesOf(values));
    const log = Object.assign(new TimeLog(), { id }, checked);
    const { input } = checked[SENT];
    if (input !== log.attributes) Object.defineProperty(log, SENT, { value: { input }, configurable: true });
    return log;
  }

  /** Returns a log with other values, checked like those of `record`. Its fingerprint stays that of the sent ones. */
  static replace(log: TimeLog, values: TimeLogValues): TimeLog {
    const sent = { input: sentAttributesOf(log), values: normalizedValues(log) };
    return Object.defineProperty(TimeLog.record(values, log.id), SENT, { value: sent });
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

/**
 * Checks all values except attributes; `input` is what the schema got for those. Throws DomainError
 * VALIDATION_ERROR with one message for each invalid value.
 */
export function check(values: TimeLogValues, input: unknown): CheckedValues {
  throwFaults(faultsOf(values));
  return markChecked(values, input);
}

/** Normalizes and marks values that a DTO checked by the rules of `TIME_LOG_FIELDS`. A copy has no mark. */
export function markChecked(values: TimeLogValues, input?: unknown): CheckedValues {
  return Object.defineProperty(normalizedValues(values), SENT, { value: { input } }) as CheckedValues;
}

/** Returns whether values need no further check. A log needs one: a host may have changed its attributes. */
export function areChecked(values: (TimeLogValues & MaybeChecked) | undefined): values is CheckedValues {
  return values?.[SENT] !== undefined && !(values instanceof TimeLog);
}

/** Returns the attributes as sent; for a log from the store, as the schema converted them. */
export function sentAttributesOf(values: TimeLogValues & MaybeChecked): unknown {
  const sent = values[SENT];
  return sent ? sent.input : values.attributes;
}

/** Returns the values as sent if a hook has replaced them. */
export function replacedValuesOf(values: TimeLogValues & MaybeChecked): AllTimeLogValues | undefined {
  return values[SENT]?.values;
}

/** Returns whether a hook, or the schema of attributes, has changed the values that were sent. */
export function isChanged(log: TimeLog): boolean {
  return replacedValuesOf(log) !== undefined || !isDeepStrictEqual(sentAttributesOf(log), log.attributes);
}

/** Returns the faults of all values except attributes. */
export function faultsOf(values: TimeLogValues): Fault[] {
  const faults: Fault[] = [];
  for (const name in TABLE) {
    const field = TABLE[name]!;
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
  for (const name in fields) {
    const field = fields[name]!;
    const value = valueOrDefault(values, name, field);
    normalized[name] = field.normalize ? field.normalize(value as never) : value;
  }
  if (values.attributes !== undefined) normalized.attributes = values.attributes;
  return normalized as AllTimeLogValues;
}

function valueOrDefault(values: TimeLogValues, name: string, field: Field): unknown {
  const value: unknown = Reflect.get(values, name);
  return value === undefined ? field.default : value;
}
