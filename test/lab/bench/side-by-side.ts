import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../../src/app.module.js';
import { removeLibpqVariables } from '../../../src/process/config.js';
import { migrate } from '../../../src/database/setup/index.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { storeToken } from '../tokens.js';
import { type Bench as Compared, compare } from './compare.js';
import { NO_LOGS } from './data-set.js';
import { Driver } from './driver.js';
import { Program, type Target } from './program.js';
import { summaryOf } from './results.js';
import { Server } from './server.js';

/** The environment of compared services: a PostgreSQL and a driver of their own. */
export interface Bench extends Pick<Compared, 'server' | 'driver' | 'signal'> {
  /** Makes a migrated database, which a statement may change. Returns its URL. */
  readonly createDatabase: (name: string, sql?: string) => Promise<string>;
  /** Starts the service on a database. */
  readonly start: (databaseUrl: string, env?: Readonly<Record<string, string>>) => Promise<Program>;
}

/** Lends a bench, and removes all of it at the end. */
export async function withBench(act: (bench: Bench) => Promise<void>): Promise<void> {
  removeLibpqVariables(process.env);
  const { signal } = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), 'time-logs-bench-'));
  const server = await Server.open(folder, signal);
  const driver = Driver.start(signal);
  const programs: Program[] = [];
  const createDatabase: Bench['createDatabase'] = async (name, sql = '') => {
    // Those whose statements the server waits for between rounds.
    const url = await server.create(`time_logs_bench_${name}`);
    await migrate({ url, migrations });
    await queryOnce(url, sql);
    return url;
  };
  const start: Bench['start'] = async (databaseUrl, env = {}) => {
    const token = await storeToken(databaseUrl);
    const logFile = join(folder, `${programs.length}.log`);
    const program = await Program.start({ name: 'service', databaseUrl, token, logFile, signal, env });
    programs.push(program);
    return program;
  };
  try {
    await act({ server, driver, signal, createDatabase, start });
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    driver.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Puts creates on services in turn; prints the medians of all rounds, and each over the last service. */
export async function compareCreates(
  bench: Bench,
  services: Readonly<Record<string, Target>>,
  { rounds = 10, seconds = 4 }: Partial<Compared['options']>,
): Promise<void> {
  const programs = Object.values(services);
  const options = { connections: 64, rounds, seconds };
  const log = (line: string) => console.error(line);
  const measurements = await compare({ ...bench, programs, options, log, data: NO_LOGS }, 'create');
  const found = measurements.map(summaryOf);
  const last = found.at(-1)!;
  console.log(
    '| | requests/s | p50 ms | Node CPU µs | PostgreSQL CPU µs | × throughput | × Node CPU | × CPU |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const [index, name] of Object.keys(services).entries()) {
    const { perSecond, p50, cpu, databaseCpu } = found[index]!;
    const shares = [
      perSecond / last.perSecond,
      cpu / last.cpu,
      (cpu + databaseCpu) / (last.cpu + last.databaseCpu),
    ].map((share) => share.toFixed(3));
    const figures = [Math.round(perSecond), p50.toFixed(2), cpu.toFixed(1), databaseCpu.toFixed(1)];
    console.log(`| ${[name, ...figures, ...shares].join(' | ')} |`);
  }
}

/** Rounds, and seconds of each, as the command line has them. */
export function optionsOf([rounds, seconds]: readonly string[]): Partial<Compared['options']> {
  return { ...(rounds && { rounds: Number(rounds) }), ...(seconds && { seconds: Number(seconds) }) };
}
