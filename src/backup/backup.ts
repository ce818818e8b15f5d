import { createHash } from 'node:crypto';
import { access, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { DataSource, DataSourceOptions, EntityMetadata, QueryRunner } from 'typeorm';
import {
  headerLine,
  type Migrations,
  namesOf,
  Progress,
  type RowCounts,
  tableLine,
  trailerLine,
} from './backup-format.js';
import { openDataSource, plainOptions } from '../database-setup/index.js';
import { Database } from '../database/index.js';

/** Rows read at once: few enough that the longest of them fit in memory. */
const PAGE = 1_000;

/** Rows are the same text whatever the server's settings, and a slow disk is no reason to end the transaction. */
const SETTINGS = `
  set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local bytea_output = 'hex'; set local extra_float_digits = 1;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

export interface BackupOptions {
  /** A role that may read every table and the list of migrations. */
  readonly url: string;
  readonly entities: NonNullable<DataSourceOptions['entities']>;
  readonly migrations: Migrations;
  readonly file: string;
  /** Gets a line of progress every few seconds. */
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Saves the rows of every entity, as they are at one instant, and returns how many; the file appears when it is complete.
 * Throws an Error with one clear line where the file exists, the database is away or its schema is not that of this version.
 */
export async function backup({ file, ...source }: BackupOptions): Promise<RowCounts> {
  if (await exists(file)) throw new Error(`${file} exists already: give the backup another name`);
  const part = `${file}.part`;
  if (await exists(part))
    throw new Error(`${part} exists: another backup is under way; if it was cut off, remove the file`);
  const handle = await open(part, 'wx', 0o600);
  try {
    const progress = new Progress(source.report);
    await withSnapshot(source, (dataSource, runner) =>
      pipeline(
        textOf(dataSource, runner, namesOf(source.migrations), progress),
        createGzip(),
        handle.createWriteStream({ flush: true }),
        { signal: source.signal },
      ),
    );
    await rename(part, file);
    return progress.counts;
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Runs the act in one transaction that sees the database at one instant and changes nothing. */
async function withSnapshot(
  { url, entities, migrations }: Pick<BackupOptions, 'url' | 'entities' | 'migrations'>,
  act: (dataSource: DataSource, runner: QueryRunner) => Promise<void>,
): Promise<void> {
  const dataSource = await openDataSource({ ...plainOptions(url), entities, poolSize: 1 });
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('begin isolation level repeatable read read only');
    await runner.query(SETTINGS);
    await refuseOtherSchema(runner, namesOf(migrations));
    await act(dataSource, runner);
  } finally {
    // Ends the transaction, too. A connection that is lost is no news here.
    await runner.query('rollback').catch(() => undefined);
    await runner.release();
    await dataSource.destroy();
  }
}

async function refuseOtherSchema(runner: QueryRunner, names: readonly string[]): Promise<void> {
  const [found] = (await runner.query(`select to_regclass('migrations') is not null as "isThere"`)) as [
    { isThere: boolean },
  ];
  const applied = found.isThere
    ? ((await runner.query('select name from migrations')) as { name: string }[]).map(({ name }) => name)
    : [];
  const missing = names.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw new Error(`the database lacks the migrations ${missing.join(', ')}: run npm run migrate first`);
  if (unknown.length > 0)
    throw new Error(`the database has the migrations ${unknown.join(', ')} of a newer version: use that one`);
}

/** The text of a backup, piece by piece. */
async function* textOf(
  dataSource: DataSource,
  runner: QueryRunner,
  migrations: string[],
  progress: Progress,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const vouched = (lines: readonly string[]) => {
    const text = `${lines.join('\n')}\n`;
    hash.update(text);
    return text;
  };
  const tables = dataSource.entityMetadatas.map(({ tableName }) => tableName);
  yield vouched([headerLine({ migrations, tables })]);
  for (const metadata of dataSource.entityMetadatas) {
    yield vouched([tableLine(metadata.tableName)]);
    progress.add(metadata.tableName, 0);
    for await (const rows of pagesOf(dataSource, runner, metadata)) {
      yield vouched(rows);
      progress.add(metadata.tableName, rows.length);
    }
  }
  yield `${trailerLine(progress.counts, hash.digest('hex'))}\n`;
}

/** The rows of a table by primary key, each as PostgreSQL writes it in JSON: no value passes through JavaScript. */
async function* pagesOf(
  dataSource: DataSource,
  runner: QueryRunner,
  metadata: EntityMetadata,
): AsyncGenerator<string[]> {
  const quoted = (name: string) => dataSource.driver.escape(name);
  const columns = metadata.columns.map(({ databaseName }) => quoted(databaseName)).join();
  const keys = metadata.primaryColumns.map(({ databaseName }) => quoted(databaseName));
  const pageAfter = (condition: string) => `
    select to_json(page)::text as row, array[${keys.map((key) => `${key}::text`).join()}] as key
    from (select ${columns} from ${new Database(dataSource).table(metadata.target)} ${condition}
          order by ${keys.join()} limit ${PAGE}) page
    order by ${keys.join()}`;
  const next = pageAfter(`where (${keys.join()}) > (${keys.map((_, index) => `$${index + 1}`).join()})`);
  let last: string[] | undefined;
  do {
    const rows = (await (last ? runner.query(next, last) : runner.query(pageAfter('')))) as {
      row: string;
      key: string[];
    }[];
    if (rows.length > 0) yield rows.map(({ row }) => row);
    last = rows.length < PAGE ? undefined : rows.at(-1)?.key;
  } while (last);
}
