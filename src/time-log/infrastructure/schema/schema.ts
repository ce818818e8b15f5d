import type { QueryRunner } from 'typeorm';
import { dataSourceOf, fullyQualified, qualified } from '../../../database/index.js';
import { TEXTS } from './texts.js';

/** `{{name}}` with its schema, `{{.name}}` as the DataSource names it; each `'` is one level of quotes around it. */
const NAME = /\{\{(\.?)(\w+)('*)\}\}/g;
/** The files of what holds now, in the order in which they run. Those of functions may run again. */
const TABLES = ['tables', 'counts'];
const FUNCTIONS = ['append', 'fold', 'totals', 'pages', 'check', 'feed', 'positions', 'compatible'];

/** Runs SQL with the names that the DataSource gives to tables and functions, in the schema and with the prefix. */
export async function runText(runner: QueryRunner, sql: string): Promise<void> {
  const names = new Map<string, string>();
  for (const [place, isLocal, name, quotes] of sql.matchAll(NAME)) {
    const full = isLocal ? qualified(dataSourceOf(runner), name!) : await fullyQualified(runner, name!);
    names.set(place, full.replaceAll("'", "'".repeat(2 ** quotes!.length)));
  }
  await runner.query(sql.replace(NAME, (place) => names.get(place)!));
}

/** Makes what a new database has. */
export async function createSchema(runner: QueryRunner): Promise<void> {
  for (const name of TABLES) await runText(runner, TEXTS[name]!);
  await replaceFunctions(runner);
}

/** Makes the functions and triggers of now, or puts them in the place of those of before. */
export async function replaceFunctions(runner: QueryRunner): Promise<void> {
  for (const name of FUNCTIONS) await runText(runner, TEXTS[name]!);
  await runText(runner, 'select {{attach_time_log_triggers}}()');
}
