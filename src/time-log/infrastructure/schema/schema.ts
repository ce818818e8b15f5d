import type { Abstract } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { fullyQualified } from '../../../database/index.js';
import { ENTITIES_BY_TABLE } from '../time-log.entities.js';
import { TEXTS } from './texts.js';

/** A table or function; each `'` is a level of quotes around it. */
const PLACEHOLDER = /\{\{(\w+)('*)\}\}/g;
/** The files of the current schema, in the order in which they run. Those of functions replace earlier ones. */
const TABLES = ['tables', 'counts'];
const FUNCTIONS = ['append', 'fold', 'totals', 'pages', 'check', 'project-feed', 'feed', 'positions'];

/** Creates the tables, functions and triggers of a new database. */
export async function createSchema(runner: QueryRunner): Promise<void> {
  await runFiles(runner, [...TABLES, ...FUNCTIONS]);
}

/** Leads the tables, functions and triggers of version 0.3 to the current ones. */
export async function updateSchema(runner: QueryRunner): Promise<void> {
  await runFiles(runner, ['update', ...FUNCTIONS]);
}

async function runFiles(runner: QueryRunner, files: readonly string[]): Promise<void> {
  for (const name of files) await runText(runner, TEXTS[name]!);
  await runText(runner, 'select {{attach_time_log_triggers}}()');
}

const ENTITIES: Readonly<Record<string, Abstract<unknown> | undefined>> = ENTITIES_BY_TABLE;

/** Runs SQL whose placeholders become names with the schema and prefix of the DataSource. */
async function runText(runner: QueryRunner, sql: string): Promise<void> {
  const names = new Map<string, string>();
  for (const [placeholder, name, quotes] of sql.matchAll(PLACEHOLDER)) {
    const full = await fullyQualified(runner, name!, ENTITIES[name!]);
    names.set(placeholder, full.replaceAll("'", "'".repeat(2 ** quotes!.length)));
  }
  await runner.query(sql.replace(PLACEHOLDER, (placeholder) => names.get(placeholder)!));
}
