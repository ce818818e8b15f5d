import { setTimeout as delay } from 'node:timers/promises';
import type { FactoryProvider } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { ATTRIBUTE_NAME } from '../../auth/src/index.js';
import { type Database, dataSourceOf, qualified, rollBack, tryLock } from '../../../src/database/index.js';
import {
  DATABASE_CHECK,
  type DatabaseCheck,
  indexedAttribute,
  TimeLog,
  TimeLogAttributes,
} from '../../../src/time-log/index.js';

/** The key of the advisory lock of a session that changes indexes: "log-attr" as a 64-bit number. */
const LOCK_KEY = 0x6c6f672d61747472n;
const POLL_INTERVAL_MS = 100;
/** The longest name of an index, in bytes. PostgreSQL would cut a longer one. */
const MAX_NAME_BYTES = 63;
/** The start and end of the name of an index, around the name of its attribute. */
const START = 'time_logs_attribute_';
const END = '_idx';

/** The indexes of attributes of a DataSource. */
interface Indexes {
  readonly runner: QueryRunner;
  /** The quoted name of the table. */
  readonly table: string;
  /** The start of the name of each index. */
  readonly start: string;
  /** The attributes that must have an index, by its name. */
  readonly wanted: ReadonlyMap<string, string>;
}

interface FoundIndex {
  readonly name: string;
  /** Its quoted name, with its schema if that is necessary. */
  readonly quoted: string;
  readonly isValid: boolean;
}

/**
 * Creates the missing indexes of attributes and drops the others, while logs are written. Returns a line for each.
 * One session does this at a time. The runner must not be in a transaction, and its DataSource needs a second
 * connection.
 */
export async function updateAttributeIndexes(
  runner: QueryRunner,
  filters: Iterable<string>,
  signal?: AbortSignal,
): Promise<string[]> {
  if (runner.isTransactionActive)
    throw new Error(
      'indexes of attributes cannot be created in a transaction: set transaction = false in the migration',
    );
  const dataSource = dataSourceOf(runner);
  const start = `${dataSource.options.entityPrefix ?? ''}${START}`;
  const wanted = new Map([...filters].map((filter) => [nameOf(start, filter), filter]));
  const indexes = { runner, table: qualified(dataSource, 'time_logs', TimeLog), start, wanted };
  const found = await findIndexes(indexes);
  if (found.length === wanted.size && found.every((index) => isRight(indexes, index))) return [];
  const lock = await lockIndexes(indexes, signal);
  try {
    // Role or DataSource may have set timeouts for short statements.
    await runner.query('set statement_timeout = 0; set lock_timeout = 0');
    return [...(await dropOthers(indexes)), ...(await createMissing(indexes, signal))];
  } finally {
    await runner.query('reset statement_timeout; reset lock_timeout').catch(() => undefined);
    await rollBack(lock);
  }
}

/** Returns what is wrong with the indexes of filters: the first one that is missing or not valid. */
export async function indexFault(database: Database, filters: Iterable<string>): Promise<string | undefined> {
  const names = [...filters];
  if (names.length === 0) return undefined;
  const [row] = await database.query<{ attribute: string }>(
    `select attribute from unnest($1::text[], $2::text[]) with ordinality wanted (attribute, name, place)
      where not exists (select from pg_index
        where indexrelid = to_regclass(name) and indrelid = to_regclass($3) and indisvalid)
      order by place limit 1`,
    [names, names.map((name) => database.routine(`${START}${name}${END}`)), database.table(TimeLog)],
  );
  return row && `attributes.${row.attribute} has no index`;
}

/** Provides a check that ends the start if a filter has no valid index. The advice says how to create it. */
export function indexCheck(advice: string): FactoryProvider<DatabaseCheck> {
  return {
    provide: DATABASE_CHECK,
    inject: [TimeLogAttributes],
    useFactory: (attributes: TimeLogAttributes) => async (database) => {
      const fault = await indexFault(database, attributes.filters.keys());
      if (fault !== undefined) throw new Error(`${fault}: ${advice}`);
    },
  };
}

function nameOf(start: string, attribute: string): string {
  if (!ATTRIBUTE_NAME.test(attribute))
    throw new Error(
      `attributes.${attribute} cannot have an index: use a name of up to 32 letters, digits and underscores that starts with a letter`,
    );
  const name = `${start}${attribute}${END}`;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw new Error(
    `the name of the index of attributes.${attribute} is longer than ${MAX_NAME_BYTES} bytes: shorten the attribute or the entityPrefix`,
  );
}

async function findIndexes({ runner, table, start }: Indexes): Promise<FoundIndex[]> {
  return (await runner.query(
    `select relname as name, indexrelid::regclass::text as quoted, indisvalid as "isValid"
       from pg_index join pg_class on oid = indexrelid
      where indrelid = to_regclass($1) and starts_with(relname, $2) and right(relname, $3) = $4 order by 1`,
    [table, start, END.length, END],
  )) as FoundIndex[];
}

function isRight({ wanted }: Indexes, { name, isValid }: FoundIndex): boolean {
  return isValid && wanted.has(name);
}

async function dropOthers(indexes: Indexes): Promise<string[]> {
  const { runner, start, wanted } = indexes;
  const lines: string[] = [];
  for (const index of await findIndexes(indexes)) {
    if (isRight(indexes, index)) continue;
    await runner.query(`drop index concurrently if exists ${index.quoted}`);
    if (!wanted.has(index.name))
      lines.push(`dropped the index of attributes.${index.name.slice(start.length, -END.length)}`);
  }
  return lines;
}

async function createMissing(indexes: Indexes, signal: AbortSignal | undefined): Promise<string[]> {
  const { runner, table, wanted } = indexes;
  const found = new Set((await findIndexes(indexes)).map(({ name }) => name));
  const missing = [...wanted].filter(([name]) => !found.has(name));
  for (const [name, attribute] of missing) {
    signal?.throwIfAborted();
    await runner.query(
      `create index concurrently "${name}" on ${table} (${indexedAttribute(attribute)}, date, id)`,
    );
  }
  // Creating an index does not collect the statistics of its expression.
  if (missing.length > 0) await runner.query(`analyze ${table}`);
  return missing.map(([, attribute]) => `created the index of attributes.${attribute}`);
}

/**
 * Begins a transaction that holds the lock, so that the lock ends with it, even behind a pooler. Waits for other
 * sessions, and for an index that the server still creates for a process that was killed.
 */
async function lockIndexes(
  { runner, table }: Indexes,
  signal: AbortSignal | undefined,
): Promise<QueryRunner> {
  const lock = dataSourceOf(runner).createQueryRunner();
  try {
    await lock.startTransaction('READ COMMITTED');
    while (!(await tryLock(lock, LOCK_KEY)) || (await isBuilding(lock, table))) {
      // The creation of an index may wait for the end of each transaction that was reading at a certain moment.
      await lock.rollbackTransaction();
      await delay(POLL_INTERVAL_MS, undefined, { signal });
      await lock.startTransaction('READ COMMITTED');
    }
    // Also ends the portal of the last statement, which has a snapshot.
    await lock.query('set local idle_in_transaction_session_timeout = 0');
    return lock;
  } catch (error) {
    await rollBack(lock);
    throw error;
  }
}

/** Returns whether the server creates an index of a table, which is not valid until then. */
async function isBuilding(runner: QueryRunner, table: string): Promise<boolean> {
  const builders = (await runner.query(
    `select from pg_locks join pg_stat_progress_create_index using (pid)
      where relation = to_regclass($1) and mode = 'ShareUpdateExclusiveLock' and granted limit 1`,
    [table],
  )) as object[];
  return builders.length > 0;
}
