import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DataSource, type DataSourceOptions, MigrationExecutor, type QueryRunner } from 'typeorm';
import { connectTimeoutOf, plainOptions } from './data-source.js';
import {
  addressOf,
  codeOf,
  explainConnectionError,
  INSUFFICIENT_PRIVILEGE,
  messageOf,
} from './error-message.js';
import { rollBack } from '../transaction.js';
import { hasSqlState } from '../unavailability.js';
import { requireSuitableDatabase, UnsuitableDatabaseError } from './requirements.js';

/** The key of the advisory lock that a migrating instance holds: "time-log" as a 64-bit number. */
const LOCK_KEY = 0x74696d652d6c6f67n;
/** The time for which a start tries to connect. */
const CONNECT_PERIOD_MS = 15_000;
/** The timeout of one attempt to connect. */
const CONNECT_TIMEOUT_MS = 5_000;
const CONNECT_INTERVAL_MS = 1_000;
/** The time that a migration waits for a table: shorter than the lock timeout of requests, which queue behind it. */
const LOCK_TIMEOUT_MS = 1_000;
/** The SQLSTATEs lock_not_available and deadlock_detected. */
const LOCK_CONFLICT = /^(?:55P03|40P01)$/;
/** Obstacles to a migration, each with the pause in milliseconds before it tries again. */
const OTHER_MIGRATION = { name: 'another instance that migrates', pause: 100 };
const LOCKED_TABLE = {
  name: 'a table that another transaction has locked: pg_stat_activity shows it',
  pause: 2_000,
};
/** The `application_name` of connections that migrate. Others have that of `plainOptions`. */
const APPLICATION_NAME = 'time-logs migration';

const logger = new Logger('Migrations');

export interface MigrateOptions {
  /** The URL with a role that may change the schema. */
  readonly url: string;
  /** The name of the setting that holds the URL. The default is `DATABASE_URL`. */
  readonly setting?: string | undefined;
  readonly migrations: NonNullable<DataSourceOptions['migrations']>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the pending migrations, one instance at a time, and returns their names. Waits for a
 * database that is not up yet. Throws an Error with a one-line message if the database is
 * unreachable or rejects the connection.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { signal } = options;
  const dataSource = await connect(options);
  try {
    await requireSuitableDatabase(dataSource, options.setting);
    return await runPending(dataSource, signal);
  } catch (error) {
    if (signal?.aborted || error instanceof UnsuitableDatabaseError) throw error;
    throw new Error(`the database schema could not be migrated: ${messageOf(error)}${adviceFor(error)}`, {
      cause: error,
    });
  } finally {
    await dataSource.destroy();
  }
}

/** Runs each migration in its own transaction. Skips those that another instance has run. */
async function runPending(dataSource: DataSource, signal: AbortSignal | undefined): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  const done: string[] = [];
  try {
    if (
      (await executor.getPendingMigrations()).length > 0 &&
      (await executor.getExecutedMigrations()).length > 0
    )
      await warnOfOtherInstances(runner);
    while ((await executor.getPendingMigrations()).length > 0)
      await runLocked(runner, signal, async () => {
        const [next] = await executor.getPendingMigrations();
        if (next) done.push((await executor.executeMigration(next)).name);
      });
    return done;
  } finally {
    await rollBack(runner);
  }
}

/**
 * Runs work in a transaction that also holds the lock of all migrations: so the lock ends with the transaction, even
 * behind a pooler that shares sessions. Work that waits for a locked table is undone and tried again: statements of
 * other clients would queue behind it.
 */
async function runLocked(
  runner: QueryRunner,
  signal: AbortSignal | undefined,
  work: () => Promise<void>,
): Promise<void> {
  for (let isWaiting = false; ; isWaiting = true) {
    signal?.throwIfAborted();
    await runner.startTransaction('READ COMMITTED');
    await runner.query(`set local statement_timeout = 0; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const obstacle = await attempt(runner, work);
    if (obstacle === undefined) return runner.commitTransaction();
    await runner.rollbackTransaction();
    if (!isWaiting) logger.log(`waiting for ${obstacle.name}`);
    // Polls instead of waiting in the database, so that a signal can end the wait.
    await delay(obstacle.pause, undefined, { signal });
  }
}

/** Runs work if it can have the lock of all migrations and every table, or else returns what it must wait for. */
async function attempt(
  runner: QueryRunner,
  work: () => Promise<void>,
): Promise<typeof OTHER_MIGRATION | typeof LOCKED_TABLE | undefined> {
  const [row] = (await runner.query(`select pg_try_advisory_xact_lock(${LOCK_KEY}) as locked`)) as [
    { locked: boolean },
  ];
  if (!row.locked) return OTHER_MIGRATION;
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!hasSqlState(error, LOCK_CONFLICT)) throw error;
    return LOCKED_TABLE;
  }
}

/** Warns if instances are connected: they are of an earlier version if their database must be migrated. */
async function warnOfOtherInstances(runner: QueryRunner): Promise<void> {
  const [row] = (await runner.query(
    `select count(*)::integer as connections from pg_stat_activity
      where datname = current_database() and application_name = 'time-logs'`,
  )) as [{ connections: number }];
  if (row.connections === 0) return;
  logger.warn(
    `an earlier version is connected to this database (${row.connections} connections): stop all its instances, which cannot serve on the new schema`,
  );
}

async function connect({
  url,
  setting = 'DATABASE_URL',
  migrations,
  signal,
}: MigrateOptions): Promise<DataSource> {
  const end = performance.now() + CONNECT_PERIOD_MS;
  for (let isWaiting = false; ; isWaiting = true) {
    const remaining = Math.max(CONNECT_INTERVAL_MS, end - performance.now());
    const dataSource = new DataSource({
      ...plainOptions(url),
      applicationName: APPLICATION_NAME,
      migrations,
      poolSize: 2,
      connectTimeoutMS: Math.min(CONNECT_TIMEOUT_MS, remaining, connectTimeoutOf(url) ?? Infinity),
    });
    try {
      return await dataSource.initialize();
    } catch (error) {
      const { message, reason, isFinal } = explainConnectionError(error, url, setting);
      if (isFinal || performance.now() + CONNECT_INTERVAL_MS > end)
        throw new Error(message, { cause: error });
      if (!isWaiting)
        logger.warn(
          `waiting for the database at ${addressOf(url).server}, ${CONNECT_PERIOD_MS / 1_000} s at most: ${reason}`,
        );
      await delay(CONNECT_INTERVAL_MS, undefined, { signal });
    }
  }
}

function adviceFor(error: unknown): string {
  if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) return '';
  return '; set MIGRATION_DATABASE_URL to a role that may change the schema, or, if no migration is pending, grant this role select on the table migrations';
}
