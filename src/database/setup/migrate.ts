import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DataSource, type DataSourceOptions, MigrationExecutor, type QueryRunner } from 'typeorm';
import { addressOf, connectionFault } from './connection-fault.js';
import { plainOptions } from './connection-options.js';
import { codeOf, INSUFFICIENT_PRIVILEGE, messageOf } from './message.js';
import { requireFitDatabase, UnfitDatabaseError } from './requirements.js';

/** Key of the lock under which only one instance migrates at a time: "time-log" as a 64-bit number. */
const LOCK = 0x74696d652d6c6f67n;
/** Milliseconds for which a start tries to reach the database, of one try at most, and between two of them. */
const PATIENCE = 15_000;
const TRY_LIMIT = 5_000;
const PAUSE = 1_000;
/** Milliseconds between two tries to take the lock. */
const LOCK_PAUSE = 100;

const logger = new Logger('Migrations');

export interface MigrateOptions {
  /** A database role that may change the schema. */
  readonly url: string;
  /** The name of the setting that holds the URL: `DATABASE_URL` unless told otherwise. */
  readonly setting?: string | undefined;
  readonly migrations: NonNullable<DataSourceOptions['migrations']>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the pending migrations, one instance at a time, and returns their names. Without any it changes nothing. Waits
 * for a database that is not up yet. Throws an Error with one clear line where the database stays away or refuses.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { signal } = options;
  const dataSource = await connect(options);
  try {
    await requireFitDatabase(dataSource);
    return await runPending(dataSource, signal);
  } catch (error) {
    if (signal?.aborted || error instanceof UnfitDatabaseError) throw error;
    throw new Error(`the database schema could not be migrated: ${messageOf(error)}${adviceFor(error)}`, {
      cause: error,
    });
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Runs each migration in its own transaction, which also holds the lock. So the lock ends with the transaction, even
 * behind a pooler that shares its sessions. It sees migrations that another instance has run meanwhile, and skips them.
 */
async function runPending(dataSource: DataSource, signal: AbortSignal | undefined): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  const done: string[] = [];
  try {
    for (let isWaiting = false; (await executor.getPendingMigrations()).length > 0;) {
      signal?.throwIfAborted();
      await runner.startTransaction('READ COMMITTED');
      if (await tryLock(runner)) {
        const [next] = await executor.getPendingMigrations();
        if (next) done.push((await executor.executeMigration(next)).name);
        await runner.commitTransaction();
      } else {
        // It asks again and again, instead of waiting inside the database: so a signal can end the wait.
        await runner.rollbackTransaction();
        if (!isWaiting) logger.log('waiting for another instance that migrates');
        isWaiting = true;
        await delay(LOCK_PAUSE, undefined, { signal });
      }
    }
    return done;
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    await runner.release();
  }
}

async function tryLock(runner: QueryRunner): Promise<boolean> {
  const [row] = (await runner.query('select pg_try_advisory_xact_lock($1) as locked', [String(LOCK)])) as [
    { locked: boolean },
  ];
  return row.locked;
}

async function connect({
  url,
  setting = 'DATABASE_URL',
  migrations,
  signal,
}: MigrateOptions): Promise<DataSource> {
  const end = performance.now() + PATIENCE;
  for (let isWaiting = false; ; isWaiting = true) {
    const left = Math.max(PAUSE, end - performance.now());
    const dataSource = new DataSource({
      ...plainOptions(url),
      migrations,
      poolSize: 1,
      connectTimeoutMS: Math.min(TRY_LIMIT, left),
    });
    try {
      return await dataSource.initialize();
    } catch (error) {
      const { message, reason, isFinal } = connectionFault(error, url, setting);
      if (isFinal || performance.now() + PAUSE > end) throw new Error(message, { cause: error });
      if (!isWaiting)
        logger.warn(
          `waiting for the database at ${addressOf(url).server}, ${PATIENCE / 1_000} s at most: ${reason}`,
        );
      await delay(PAUSE, undefined, { signal });
    }
  }
}

function adviceFor(error: unknown): string {
  if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) return '';
  return '; set MIGRATION_DATABASE_URL to a role that may change the schema, or, with nothing pending, grant this one select on the table migrations';
}
