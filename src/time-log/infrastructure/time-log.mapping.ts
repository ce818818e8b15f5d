import { Check, Column, type ColumnOptions, Entity, Index } from 'typeorm';
import { type Attributes, type StoredTimeLog, TimeLog } from '../domain/time-log.js';

const asItIs = (text: string) => text;
/** The nearest double that a duration can be: SQL was able to store decimals beyond the largest or smallest one. */
const doubleOf = (text: string) => Math.min(Math.max(Number(text), Number.MIN_VALUE), Number.MAX_VALUE);
/** For types whose text needs escapes, or depends on a setting. */
const byFunction = {
  select: (column: string) => `to_json(${column})::text`,
  json: asItIs,
  parse: JSON.parse,
};

export interface ColumnTexts {
  /** The SQL of its text. */
  readonly select: (column: string) => string;
  /** Makes JSON of that text. SQL has escaped what comes as JSON, so that it goes into an answer as it is. */
  readonly json: (text: string) => string;
  /** Makes the value of that text. */
  readonly parse: (text: string) => unknown;
  /** Makes the text of a value; without it the driver does. */
  readonly write?: (value: unknown) => string;
}

/** How each type of column is read and written. */
export const COLUMN_TEXTS = {
  uuid: { select: asItIs, json: (text: string) => `"${text}"`, parse: asItIs },
  // As JavaScript writes it: SQL keeps zeros at the end, and knows no exponent.
  numeric: { select: asItIs, json: (text: string) => JSON.stringify(doubleOf(text)), parse: asItIs },
  text: byFunction,
  date: byFunction,
  // As JavaScript writes it: SQL writes numbers out and adds spaces.
  jsonb: {
    select: (column: string) => `${column}::text`,
    json: (text: string) => JSON.stringify(JSON.parse(text)),
    parse: JSON.parse,
    write: JSON.stringify,
  },
} satisfies Readonly<Record<string, ColumnTexts>>;

type TimeLogColumn<Value> = ColumnOptions & {
  /** The type of the column, and of parameters. */
  readonly type: keyof typeof COLUMN_TEXTS;
  /** For values that the driver would change. */
  readonly transformer?: {
    readonly to: (value: Value) => unknown;
    readonly from: (text: never) => Value;
  };
};

/** The columns of the table, one for each field of a log. */
export const TIME_LOG_COLUMNS = {
  id: { type: 'uuid', primary: true, primaryKeyConstraintName: 'time_logs_pkey' },
  projectId: { type: 'uuid', name: 'project_id' },
  // SQL has exact decimals. The shortest decimal of a double is read back as the same double.
  duration: { type: 'numeric', transformer: { to: String, from: doubleOf } },
  description: { type: 'text' },
  date: { type: 'date' },
  // A log without them has no member of this name.
  attributes: {
    type: 'jsonb',
    nullable: true,
    transformer: {
      to: (value: Attributes | undefined) => value,
      from: (value: Attributes | null) => value ?? undefined,
    },
  },
} satisfies { readonly [Name in keyof StoredTimeLog]-?: TimeLogColumn<StoredTimeLog[Name]> };

// Maps the table `time_logs` straight onto the domain class. Decorators are functions: called from here, they leave the
// domain free of them. The entities of a host can relate to a decorated class, but not to a schema. The migrations make
// the table; a test checks that the two are equal.
for (const [field, options] of Object.entries(TIME_LOG_COLUMNS)) Column(options)(TimeLog.prototype, field);
// Of the table, not of a log: its place in the feed (src/feed/README.md). PostgreSQL alone writes it. TypeORM compares
// defaults without their casts.
const position: ColumnOptions = {
  type: 'bigint',
  default: () => '((pg_current_xact_id()))',
  select: false,
  insert: false,
  update: false,
};
Column(position)(TimeLog.prototype, 'position');
// Of the feed too. Triggers write it.
const correctedAt: ColumnOptions = {
  type: 'timestamptz',
  precision: 3,
  name: 'corrected_at',
  nullable: true,
  select: false,
  insert: false,
  update: false,
};
Column(correctedAt)(TimeLog.prototype, 'correctedAt');
// The migrations make the table: with `synchronize` TypeORM would make another one, without triggers and functions.
Entity('time_logs', { synchronize: false })(TimeLog);
Index('time_logs_project_id_date_id_idx', ['projectId', 'date', 'id'])(TimeLog);
Index('time_logs_date_id_idx', ['date', 'id'])(TimeLog);
Index('time_logs_position_id_idx', ['position', 'id'])(TimeLog);
Check('time_logs_id_is_uuidv7', `substr((id)::text, 15, 1) = '7'::text`)(TimeLog);
Check('time_logs_duration_is_positive', `duration > 0 AND duration < 'Infinity'`)(TimeLog);
Check('time_logs_duration_is_within_double', 'duration BETWEEN 5e-324 AND 1.7976931348623157e308')(TimeLog);
Check('time_logs_description_is_short', 'char_length(description) <= 5000')(TimeLog);
Check('time_logs_date_has_four_digit_year', `date >= '0001-01-01' AND date <= '9999-12-31'`)(TimeLog);
