import type { Type } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { fullyQualified, hasSqlState } from '../../../database/index.js';
import { schemaTaken } from '../schema-taken.js';
import { createSchema, runText } from './schema.js';
import { TEXTS } from './texts.js';

/** A migration of time logs, as TypeORM runs it. */
export type TimeLogMigration = Type<MigrationInterface & { readonly name: string }>;

/** The SQLSTATE for a table, an index or a constraint whose name is taken. */
const DUPLICATE_TABLE = /^42P07$/;

/**
 * The migrations of a release, from `released/RELEASE.sql`. Databases have been made by that file: it never changes.
 * Each statement begins after a line `--> MIGRATION`. In a new database the first one makes the schema of now, and the
 * others have nothing to do.
 */
export function migrationsOf(release: string): TimeLogMigration[] {
  const statements = [
    ...TEXTS[`released/${release}`]!.matchAll(/^--> (\w+)\n([^]*?)\n(?=-->|$(?![^]))/gm),
  ].map(([, name, sql]) => ({ name: name!, sql: sql! }));
  return [...new Set(statements.map(({ name }) => name))].map(
    (name) =>
      class {
        readonly name = name;

        async up(runner: QueryRunner): Promise<void> {
          if (await isCurrent(runner)) return;
          if (name === FIRST) return createSchema(runner).catch(explain);
          for (const statement of statements)
            if (statement.name === name) await runText(runner, statement.sql);
        }

        readonly down = noWayBack;
      },
  );
}

const FIRST = 'CreateTimeLogs1763683200000';

/** Whether the first migration has made the schema of now, or the last one has run. */
export async function isCurrent(runner: QueryRunner): Promise<boolean> {
  const table = await fullyQualified(runner, 'time_log_months');
  const [row] = (await runner.query('select to_regclass($1) is not null as "isCurrent"', [table])) as [
    { isCurrent: boolean },
  ];
  return row.isCurrent;
}

/** Nobody can take back what has been counted and told since. */
export async function noWayBack(): Promise<void> {
  throw new Error('time logs cannot go back to an earlier version: restore a backup that it has made');
}

function explain(error: unknown): never {
  throw hasSqlState(error, DUPLICATE_TABLE) ? schemaTaken(error) : error;
}
