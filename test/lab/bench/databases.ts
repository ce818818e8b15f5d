import type { ProgressLine } from '../../../src/commands/progress-line.js';
import { migrations } from '../../../src/app.module.js';
import { migrate } from '../../../src/database/setup/index.js';
import { connected, firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { type DataSet, logsQuery, PAGE, projectId, SEEDED, sizeName, YEARS } from './data-set.js';
import type { Space } from './results.js';
import type { Server } from './server.js';

/** The data to seed, and a function that reports the progress. */
interface Seeding {
  readonly size: number;
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

/** Changes with the seeded rows, so that kept databases are made again. */
const SEED_VERSION = 'seeded 1';
const COLUMNS = 'id, project_id, duration, description, date';
/** Logs of one statement. Smaller ones would write the counts more often, which then take more room. */
const CHUNK = 100_000;

/** The table of the entity of the idiomatic baseline. */
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
  /** The condition for a log of an earlier run: it is younger than all seeded ones. */
  readonly isNew: string;
  /** Empties what else creates have left behind. */
  readonly forget: string;
  /** Makes the tables, or brings those of a kept database up to date. */
  makeTables(url: string): Promise<unknown>;
}

const SERVICE: Owner = {
  name: 'service',
  columns: COLUMNS,
  isNew: `id >= '${SEEDED.until.toString(16).padStart(12, '0').padEnd(32, '0')}'`,
  forget: 'truncate time_log_keys',
  makeTables: (url) => migrate({ url, migrations }),
};
const BASELINE: Owner = {
  name: 'baseline',
  columns: `${COLUMNS}, created_at`,
  isNew: `created_at >= to_timestamp(${SEEDED.until / 1_000})`,
  forget: '',
  makeTables: (url) => queryOnce(url, BASELINE_SCHEMA),
};

/**
 * Makes the databases of one size, that of the baselines only for them, or frees kept ones of what an earlier run has
 * created in them.
 */
export async function prepareDatabases(
  server: Server,
  wanted: Seeding & { readonly withBaselines: boolean },
): Promise<DataSet> {
  const { size } = wanted;
  const serviceUrl = await provide(server, SERVICE, wanted);
  const baselineUrl = wanted.withBaselines ? await provide(server, BASELINE, wanted) : undefined;
  const [total] = await firstColumn(
    serviceUrl,
    `select count(*) from time_logs where project_id = '${projectId(1)}' and date between '${YEARS.from}' and '${YEARS.to}'`,
  );
  /** The id of the event after which so many come. */
  const eventBefore = async (count: number) => {
    const place = `select position || '-' || id from time_logs order by position desc, id desc offset ${count} limit 1`;
    return (await firstColumn(serviceUrl, place))[0] as string;
  };
  const events = {
    middle: await eventBefore(Math.floor(size / 2)),
    last: await eventBefore(Math.min(PAGE, size - 1)),
  };
  return { size, serviceUrl, baselineUrl, totalOfProjectInYears: Number(total), events };
}

async function provide(server: Server, owner: Owner, wanted: Seeding): Promise<string> {
  const name = `time_logs_bench_${owner.name}_${sizeName(wanted.size)}`;
  const url = server.urlOf(name);
  if ((await server.markOf(name)) === SEED_VERSION && (await restore(url, owner, wanted))) return url;
  await owner.makeTables(await server.create(name));
  await seed(url, owner.columns, wanted);
  wanted.progress.printLine(`${name}: seeded`);
  await server.mark(name, SEED_VERSION);
  return url;
}

/**
 * Frees a kept database of what was created in it; false where so much was that the holes would show in the figures.
 */
async function restore(url: string, owner: Owner, { size, progress }: Seeding): Promise<boolean> {
  await owner.makeTables(url);
  const created = Number((await firstColumn(url, `select count(*) from time_logs where ${owner.isNew}`))[0]);
  if (created > size / 100) return false;
  if (created === 0) return true;
  progress.show(`freeing ${owner.name} of what was created`);
  await queryOnce(url, `delete from time_logs where ${owner.isNew}; ${owner.forget}`);
  await queryOnce(url, 'vacuum analyze');
  progress.end();
  return true;
}

/** Fills an empty table with the logs of a data set, and has PostgreSQL look at them. */
async function seed(url: string, columns: string, { size, progress, signal }: Seeding): Promise<void> {
  const client = await connected(url);
  try {
    const insert = `insert into time_logs (${columns}) select ${columns} from (${logsQuery(size)}) logs`;
    const start = performance.now();
    for (let first = 1; first <= size; first += CHUNK) {
      signal.throwIfAborted();
      const last = Math.min(first + CHUNK - 1, size);
      await client.query(insert, [first, last]);
      const perSecond = (last * 1_000) / (performance.now() - start);
      const [percent, left] = [Math.floor((last / size) * 100), Math.round((size - last) / perSecond)];
      progress.show(
        `seeding ${sizeName(size)}: ${percent} %, ${Math.round(perSecond)} logs/s, ${left} s left`,
      );
    }
    progress.show(`seeded ${sizeName(size)}: vacuum and analyze`);
    await client.query('vacuum analyze');
    // Else the server would do it in the middle of a round. Not every user may ask for it.
    await client.query('checkpoint').catch(() => undefined);
    progress.end();
  } finally {
    await client.end();
  }
}

/** Measures what the service's logs take, and whatever other table bears their name. */
export async function measureSpace({ serviceUrl, size }: DataSet): Promise<Space> {
  const rows = await queryOnce<{ name: string; bytes: string }>(
    serviceUrl,
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
      where relkind = 'r' and (relname = 'time_logs' or relname like 'time\\_log\\_%') order by relname`,
  );
  const sizes = Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes)]));
  const { time_logs: logs = NaN, ...others } = sizes;
  return { size, logs, others };
}
