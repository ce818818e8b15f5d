import type pg from 'pg';
import { type DataSet, PAGE, projectId, SEEDED, sizeName, type Spread, YEARS } from './data-set.js';
import { runCommand } from './program.js';
import { seed, type Seeding } from './seed.js';
import { connect, type Server } from './server.js';

/** Changes with whatever changes the seeded rows, so that kept databases are made anew. */
const MARK = 'seeded 1';
const COLUMNS = 'id, project_id, duration, description, date';

/** What the entity of the idiomatic baseline stands for. */
const BASELINE_SCHEMA = `
  create table if not exists time_logs (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null,
    duration numeric not null,
    description text not null,
    date date not null,
    created_at timestamptz(3) not null default now()
  );
  create index if not exists by_project_and_date on time_logs (project_id, date);
  create index if not exists by_date on time_logs (date)`;

interface Owner {
  readonly name: string;
  readonly columns: string;
  /** What tells a log that an earlier run has created: it is younger than all seeded ones. */
  readonly isNew: string;
  /** Empties what else creates have left behind. */
  readonly forget?: string;
  /** Makes the tables, or brings those of a kept database up to date. */
  makeTables(client: pg.Client, url: string): Promise<unknown>;
}

const SERVICE: Owner = {
  name: 'service',
  columns: COLUMNS,
  isNew: `id >= '${SEEDED.until.toString(16).padStart(12, '0').padEnd(32, '0')}'`,
  forget: 'truncate time_log_keys',
  makeTables: (_client, url) => runCommand('migrate', [], url),
};
const BASELINE: Owner = {
  name: 'baseline',
  columns: `${COLUMNS}, created_at`,
  isNew: `created_at >= to_timestamp(${SEEDED.until / 1_000})`,
  makeTables: (client) => client.query(BASELINE_SCHEMA),
};

/**
 * Makes the databases of one size, that of the baselines only for them, or frees kept ones of what an earlier run has
 * created in them.
 */
export async function prepareDatabases(
  server: Server,
  wanted: Seeding & { readonly withBaselines: boolean },
): Promise<DataSet> {
  const { spread, size } = wanted;
  const serviceUrl = await provide(server, SERVICE, wanted);
  const baselineUrl = wanted.withBaselines ? await provide(server, BASELINE, wanted) : undefined;
  const totalOfProjectInYears = await countOfProjectInYears(serviceUrl);
  const events = {
    middle: await eventBefore(serviceUrl, Math.floor(size / 2)),
    last: await eventBefore(serviceUrl, Math.min(PAGE, size - 1)),
  };
  return { spread, size, serviceUrl, baselineUrl, totalOfProjectInYears, events };
}

function nameOf({ name }: Owner, spread: Spread, size: number): string {
  return `time_logs_bench_${name}_${spread}_${sizeName(size)}`;
}

async function provide(server: Server, owner: Owner, wanted: Seeding): Promise<string> {
  const name = nameOf(owner, wanted.spread, wanted.size);
  const url = server.urlOf(name);
  if ((await server.markOf(name)) === MARK && (await restore(url, owner, wanted))) return url;
  await server.create(name);
  const client = await connect(url);
  try {
    await owner.makeTables(client, url);
    await seed(client, owner.columns, wanted);
    wanted.progress.note(`${name}: seeded`);
  } finally {
    await client.end();
  }
  await server.mark(name, MARK);
  return url;
}

/**
 * Frees a kept database of what was created in it; false where so much was that the holes would show in the figures.
 */
async function restore(url: string, owner: Owner, { size, progress }: Seeding): Promise<boolean> {
  const client = await connect(url);
  try {
    await owner.makeTables(client, url);
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from time_logs where ${owner.isNew}`,
    );
    const created = Number(rows[0]!.count);
    if (created > size / 100) return false;
    if (created === 0) return true;
    progress.show(`freeing ${owner.name} of what was created`);
    await client.query(`delete from time_logs where ${owner.isNew}`);
    if (owner.forget !== undefined) await client.query(owner.forget);
    await client.query('vacuum analyze');
    progress.end();
    return true;
  } finally {
    await client.end();
  }
}

async function countOfProjectInYears(url: string): Promise<number> {
  const client = await connect(url);
  try {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from time_logs where project_id = $1 and date between $2 and $3`,
      [projectId(1), YEARS.from, YEARS.to],
    );
    return Number(rows[0]!.count);
  } finally {
    await client.end();
  }
}

/** The id of the event after which so many come. */
async function eventBefore(url: string, count: number): Promise<string> {
  const client = await connect(url);
  try {
    const { rows } = await client.query<{ event: string }>(
      `select position || '-' || id as event from time_logs order by position desc, id desc offset $1 limit 1`,
      [count],
    );
    return rows[0]!.event;
  } finally {
    await client.end();
  }
}
