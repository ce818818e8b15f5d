import type { QueryRunner } from 'typeorm';
import { dataSourceOf, fullyQualified, qualified } from '../../../database/index.js';
import { TEXTS } from './texts.js';

/** `{{name}}` gets its schema, `{{.name}}` gets none; each `'` is a level of quotes around it. */
const PLACEHOLDER = /\{\{(\.?)(\w+)('*)\}\}/g;
/** The files of the current schema, in the order in which they run. */
const FILES = [
  'tables',
  'counts',
  'append',
  'fold',
  'totals',
  'pages',
  'check',
  'project-feed',
  'feed',
  'positions',
  'compatible',
];

/** Runs SQL whose placeholders become names with the schema and prefix of the DataSource. */
export async function runText(runner: QueryRunner, sql: string): Promise<void> {
  const names = new Map<string, string>();
  for (const [placeholder, isLocal, name, quotes] of sql.matchAll(PLACEHOLDER)) {
    const full = isLocal ? qualified(dataSourceOf(runner), name!) : await fullyQualified(runner, name!);
    names.set(placeholder, full.replaceAll("'", "'".repeat(2 ** quotes!.length)));
  }
  await runner.query(sql.replace(PLACEHOLDER, (placeholder) => names.get(placeholder)!));
}

/** Creates the tables, functions and triggers of a new database. */
export async function createSchema(runner: QueryRunner): Promise<void> {
  for (const name of FILES) await runText(runner, TEXTS[name]!);
  await runText(runner, 'select {{attach_time_log_triggers}}()');
}
