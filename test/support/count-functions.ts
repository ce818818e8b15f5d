import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { type CountNames, countNamesIn } from '../../src/time-log/infrastructure/counts/count-layout.js';
import { type FeedNames, feedNamesIn } from '../../src/time-log/infrastructure/feed/feed-names.js';

const INFRASTRUCTURE = join(import.meta.dirname, '..', '..', 'src', 'time-log', 'infrastructure');
/** The folders that hold a text for each function and version. */
const FOLDERS = ['counts', 'feed'];
const CREATE = /^\s*create (?:or replace )?function (\S+)\(/;

/** The SQL of each function in its newest version, by the name of the function. */
async function newestTexts(dataSource: DataSource): Promise<ReadonlyMap<string, string>> {
  const runner = dataSource.createQueryRunner();
  const names = { ...(await countNamesIn(runner)), ...(await feedNamesIn(runner)) };
  await runner.release();
  const newest = new Map<string, { readonly version: number; readonly text: string }>();
  for (const file of await textFiles()) {
    const version = Number(/\.v(\d+)\.ts$/.exec(file)?.[1] ?? 0);
    if (version === 0) continue;
    const exported = (await import(file)) as Record<string, unknown>;
    for (const [name, text] of Object.entries(exported).filter(([one]) => one.endsWith(`V${version}`))) {
      const sql = (text as (names: CountNames & FeedNames) => string)(names);
      const [, created] = CREATE.exec(sql) ?? [];
      if (created === undefined) throw new Error(`${name} in ${file} creates no function`);
      if ((newest.get(created)?.version ?? 0) < version) newest.set(created, { version, text: sql });
    }
  }
  return new Map([...newest].map(([created, { text }]) => [created, text]));
}

async function textFiles(): Promise<string[]> {
  const folders = await Promise.all(
    FOLDERS.map(async (name) => {
      const folder = join(INFRASTRUCTURE, name);
      return (await readdir(folder)).map((file) => join(folder, file));
    }),
  );
  return folders.flat();
}

/** The functions of a schema as PostgreSQL writes them, and as it writes those of the newest texts. */
export async function functionsIn(dataSource: DataSource, schema = 'public') {
  const texts = await newestTexts(dataSource);
  const existing = await definitions(dataSource, schema);
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    for (const text of texts.values())
      await runner.query(text.replace(/^\s*create function/, 'create or replace function'));
    return { existing, newest: await definitions(runner, schema), created: [...texts.keys()].sort() };
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

/** By name, in full. */
async function definitions(source: Pick<DataSource, 'query'>, schema: string) {
  const rows = await source.query<{ name: string; text: string }[]>(
    `select format('"%s"."%s"', pronamespace::regnamespace, proname) as name, pg_get_functiondef(oid) as text
       from pg_proc where pronamespace = $1::regnamespace order by 1`,
    [schema],
  );
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]));
}
