import { Check, Column, type ColumnOptions, Entity, Index } from 'typeorm';
import { type Attributes, type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { MAX_DESCRIPTION_LENGTH } from '../domain/time-log.rules.js';

const { MIN_VALUE, MAX_VALUE } = Number;
const asIs = (text: string) => text;
/** Returns the SQL for the nearest decimal to a duration within doubles, which may have more digits than a double. */
const withinDouble = (sql: string) => `least(greatest(${sql}, ${MIN_VALUE}), ${MAX_VALUE})`;
const asDouble = (sql: string) => `${withinDouble(sql)}::float8`;
/** Returns the nearest valid duration: SQL could once store decimals beyond doubles. */
const nearestDouble = (text: string) => Math.min(Math.max(Number(text), MIN_VALUE), MAX_VALUE);
/** A column whose text needs escapes or depends on a setting. */
const byFunction = { select: (column: string) => `to_json(${column})::text`, json: asIs, read: JSON.parse };

export interface ColumnTexts {
  /** Returns the SQL that selects the text. */
  readonly select: (column: string) => string;
  /** Converts that text to JSON. */
  readonly json: (text: string) => string;
  /** Converts that text to a value. */
  readonly read: (text: string) => unknown;
  /** Returns the SQL that compares as `read` does; by default the column itself. */
  readonly comparable?: (sql: string) => string;
  /** Returns the SQL for the new value of a column that was sent, and may read the same; by default the sent one. */
  readonly replace?: (stored: string, sent: string) => string;
  /** Converts a value to text; by default the driver does. */
  readonly write?: (value: never) => unknown;
}

/** The conversions of each column type. */
export const COLUMN_TEXTS = {
  uuid: { select: asIs, json: (text: string) => `"${text}"`, read: asIs },
  // The JSON of JavaScript: SQL keeps trailing zeros and has no exponents. SQL stores exact decimals,
  // and the shortest decimal of a double is read as the same double.
  numeric: {
    select: asIs,
    json: (text: string) => JSON.stringify(nearestDouble(text)),
    read: nearestDouble,
    comparable: asDouble,
    // A client that returns what it got has not changed it: digits that no double can hold stay.
    replace: (stored: string, sent: string) =>
      `case when ${asDouble(stored)} = ${asDouble(sent)} then ${withinDouble(stored)} else ${sent} end`,
    write: String,
  },
  text: byFunction,
  date: byFunction,
  // The JSON of JavaScript: SQL writes numbers without exponents, and adds spaces.
  jsonb: {
    select: (column: string) => `${column}::text`,
    json: (text: string) => JSON.stringify(JSON.parse(text)),
    read: (text: string) => (JSON.parse(text) as unknown) ?? undefined,
    write: JSON.stringify,
  },
} satisfies Readonly<Record<string, ColumnTexts>>;

type TimeLogColumn<Value> = ColumnOptions & {
  /** The type of the column and of its parameters. */
  readonly type: keyof typeof COLUMN_TEXTS;
  /** Converts values for the repositories of TypeORM, which a host may use. */
  readonly transformer?: {
    readonly to: (value: Value) => unknown;
    readonly from: (text: never) => Value;
  };
};

/** The columns of the table by the fields of a log. */
export const TIME_LOG_COLUMNS = {
  id: { type: 'uuid', primary: true, primaryKeyConstraintName: 'time_logs_pkey' },
  projectId: { type: 'uuid', name: 'project_id' },
  duration: { type: 'numeric', transformer: { to: String, from: nearestDouble } },
  description: { type: 'text' },
  date: { type: 'date' },
  // A log without attributes lacks this property.
  attributes: {
    type: 'jsonb',
    nullable: true,
    transformer: {
      to: (value: Attributes | undefined) => value,
      from: (value: Attributes | null) => value ?? undefined,
    },
  },
} satisfies { readonly [Name in keyof StoredTimeLog]-?: TimeLogColumn<StoredTimeLog[Name]> };

// Maps the domain class, which therefore does not depend on TypeORM. Entities of a host can relate to
// a decorated class, but not to an EntitySchema. A test compares the mapping with the migrated table.
for (const [field, options] of Object.entries(TIME_LOG_COLUMNS)) Column(options)(TimeLog.prototype, field);
/** The options of columns that only PostgreSQL writes, and that logs do not have. */
const BY_SERVER = { select: false, insert: false, update: false };
// The position in the feed. TypeORM compares defaults without their casts.
const currentTransaction = () => '((pg_current_xact_id()))';
Column({ type: 'bigint', default: currentTransaction, ...BY_SERVER })(TimeLog.prototype, 'position');
// Triggers write this column for the feed.
const correctedAt: ColumnOptions = {
  type: 'timestamptz',
  precision: 3,
  name: 'corrected_at',
  nullable: true,
};
Column({ ...correctedAt, ...BY_SERVER })(TimeLog.prototype, 'correctedAt');
// Migrations create the table: `synchronize` would create it without triggers and functions.
Entity('time_logs', { synchronize: false })(TimeLog);
Index('time_logs_project_id_date_id_idx', ['projectId', 'date', 'id'])(TimeLog);
Index('time_logs_date_id_idx', ['date', 'id'])(TimeLog);
Index('time_logs_position_id_idx', ['position', 'id'])(TimeLog);
// TypeORM has no operator classes.
Index('time_logs_attributes_idx', { synchronize: false })(TimeLog);
Check('time_logs_id_is_uuidv7', `substr((id)::text, 15, 1) = '7'::text`)(TimeLog);
Check('time_logs_duration_is_positive', `duration > 0 AND duration < 'Infinity'`)(TimeLog);
Check('time_logs_duration_is_within_double', `duration BETWEEN ${MIN_VALUE} AND ${MAX_VALUE}`)(TimeLog);
Check('time_logs_description_is_short', `char_length(description) <= ${MAX_DESCRIPTION_LENGTH}`)(TimeLog);
Check('time_logs_date_has_four_digit_year', `date >= '0001-01-01' AND date <= '9999-12-31'`)(TimeLog);
