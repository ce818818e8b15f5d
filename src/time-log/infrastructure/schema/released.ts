import type { Type } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { fullyQualified, hasSqlState } from '../../../database/index.js';
import { schemaTakenError } from '../storage-errors.js';
import { createSchema, runText } from './schema.js';
import { TEXTS } from './texts.js';

/** A TypeORM migration of time logs. */
export type TimeLogMigration = Type<MigrationInterface & { readonly name: string }>;

/** The SQLSTATE duplicate_table, also for indexes and constraints. */
const DUPLICATE_TABLE = /^42P07$/;

/**
 * Returns the migrations of a release, from the text `released/RELEASE`. Each of its statements
 * follows the names of the migrations that run it. Never change that text. In a new database the
 * first migration creates the current schema, and the others do nothing.
 */
export function migrationsOf(release: string): TimeLogMigration[] {
  const statements = [
    ...TEXTS[`released/${release}`]!.matchAll(/^--> (\w[\w ]*)\n([^]*?)\n(?=-->|$(?![^]))/gm),
  ].flatMap(([, names, sql]) => names!.split(' ').map((migration) => ({ migration, sql: sql! })));
  return [...new Set(statements.map(({ migration }) => migration))].map(
    (name) =>
      class {
        readonly name = name;

        async up(runner: QueryRunner): Promise<void> {
          if (await isCurrent(runner)) return;
          if (name === FIRST) return createSchema(runner).catch(explain);
          for (const { migration, sql } of statements) if (migration === name) await runText(runner, sql);
        }

        readonly down = rejectDown;
      },
  );
}

const FIRST = 'CreateTimeLogs1763683200000';

/**
 * Returns whether the database has what the last frozen migration makes, so that the first one has
 * created it, or all of them have run.
 */
async function isCurrent(runner: QueryRunner): Promise<boolean> {
  const table = await fullyQualified(runner, 'time_log_keys');
  const pages = await fullyQualified(runner, 'page_time_logs');
  const [row] = (await runner.query(
    `select exists (select from pg_attribute where attrelid = to_regclass($1) and attname = 'replaced')
            and exists (select from pg_proc where oid = to_regproc($2) and prosrc like '%skipped > 200%') as "isCurrent"`,
    [table, pages],
  )) as [{ isCurrent: boolean }];
  return row.isCurrent;
}

/** Rejects because an earlier version could not read the newer counts and feed. */
async function rejectDown(): Promise<void> {
  throw new Error('time logs cannot go back to an earlier version: restore a backup that it has made');
}

function explain(error: unknown): never {
  throw hasSqlState(error, DUPLICATE_TABLE) ? schemaTakenError(error) : error;
}
