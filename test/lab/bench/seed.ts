import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { ProgressLine } from '../../../src/commands/progress-line.js';
import { connected, firstColumn, type PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { environment } from '../../support/environment.js';
import { MAIN } from '../../support/service-process.js';
import { type DataSet, logsQuery, PAGE, projectId, sizeName, YEARS } from './data-set.js';

const COLUMNS = 'id, project_id, duration, description, date';
/** Logs of one statement. Smaller ones would write the counts more often, which then take more room. */
const CHUNK = 100_000;

/** The table of the entity of the idiomatic baseline. */
const BASELINE_SCHEMA = `
  create table time_logs (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null,
    duration numeric not null,
    description text not null,
    date date not null,
    created_at timestamptz(3) not null default now()
  );
  create index by_project_and_date on time_logs (project_id, date);
  create index by_date on time_logs (date)`;

/** The data to seed, and where to report the progress. */
export interface Seeding {
  readonly size: number;
  /** The folder of the older build. */
  readonly older?: string | undefined;
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

/** Whose tables a database has. */
export type Owner = 'service' | 'older' | 'baseline';

/** Makes a database with the tables of an owner and the logs of a size. Returns its URL. */
export async function provide(server: PostgresCluster, owner: Owner, seeding: Seeding): Promise<string> {
  const url = await server.createDatabase();
  if (owner === 'baseline') await queryOnce(url, BASELINE_SCHEMA);
  else migrate(url, owner === 'older' ? join(seeding.older!, 'dist', 'src') : dirname(MAIN));
  await seed(url, owner === 'baseline' ? `${COLUMNS}, created_at` : COLUMNS, seeding);
  await server.query('checkpoint');
  return url;
}

/** Makes the tables of the service by the command of a build. */
export function migrate(databaseUrl: string, build: string): void {
  const command = join(build, 'commands', 'migrate.command.js');
  execFileSync(process.execPath, [command], { env: environment({ DATABASE_URL: databaseUrl }) });
}

/** Reads from a database of the service on what the requests of loads depend. */
export async function dataSetOf(url: string, size: number): Promise<DataSet> {
  const [total] = await firstColumn(
    url,
    `select count(*) from time_logs where project_id = '${projectId(1)}' and date between '${YEARS.from}' and '${YEARS.to}'`,
  );
  /** The id of the event after which so many come. */
  const eventBefore = async (count: number) => {
    const place = `select position || '-' || id from time_logs order by position desc, id desc offset ${count} limit 1`;
    return (await firstColumn(url, place))[0] as string;
  };
  const events = {
    middle: await eventBefore(Math.floor(size / 2)),
    last: await eventBefore(Math.min(PAGE, size - 1)),
  };
  return { size, totalOfProjectInYears: Number(total), events };
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
    // Else the server would do it in the middle of a round, and a checkpoint too.
    await client.query('vacuum analyze');
    progress.end();
  } finally {
    await client.end();
  }
}
