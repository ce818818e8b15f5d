import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeLibpqVariables } from '../../../src/config.js';
import { compare } from './compare.js';
import { NO_LOGS } from './data-set.js';
import { Driver } from './driver.js';
import { makeToken, Program, runCommand } from './program.js';
import { summaryOf } from './results.js';
import { Server } from './server.js';

/** What services are compared with: a PostgreSQL and a driver of their own. */
export interface Bench {
  readonly server: Server;
  readonly driver: Driver;
  /** Makes a migrated database, which `prepare` may change, and starts the service on it. */
  readonly start: (
    database: string,
    env?: Readonly<Record<string, string>>,
    prepare?: (databaseUrl: string) => Promise<void>,
  ) => Promise<{ readonly program: Program; readonly databaseUrl: string }>;
}

/** Lends a bench, and removes all of it at the end. */
export async function withBench(act: (bench: Bench) => Promise<void>): Promise<void> {
  removeLibpqVariables(process.env);
  const { signal } = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), 'time-logs-bench-'));
  const server = await Server.open(folder, signal);
  const driver = Driver.start(signal);
  const programs: Program[] = [];
  const start: Bench['start'] = async (database, env = {}, prepare) => {
    // Those whose statements the server waits for between rounds.
    const name = `time_logs_bench_${database}`;
    await server.create(name);
    const databaseUrl = server.urlOf(name);
    await runCommand('migrate', [], databaseUrl);
    await prepare?.(databaseUrl);
    const [token, logFile] = [await makeToken(databaseUrl), join(folder, `${database}.log`)];
    const program = await Program.start({ name: 'service', databaseUrl, token, logFile, signal, env });
    programs.push(program);
    return { program, databaseUrl };
  };
  try {
    await act({ server, driver, start });
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    driver.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Puts creates on two services in turn; prints the medians of all rounds, and what the first costs over the second. */
export async function compareCreates(
  { server, driver }: Bench,
  services: readonly (readonly [what: string, program: Program])[],
): Promise<void> {
  const [rounds = 10, seconds = 4] = process.argv.slice(2).map(Number);
  const measurements = await compare(
    {
      ...{ server, driver, data: NO_LOGS, signal: new AbortController().signal },
      programs: services.map(([, program]) => program),
      options: { connections: 64, rounds, seconds },
      log: (line) => console.error(line),
    },
    'create',
  );
  console.log('| | requests/s | p50 ms | Node CPU µs | PostgreSQL CPU µs |\n|---|---|---|---|---|');
  const found = measurements.map(summaryOf);
  for (const [index, { perSecond, p50, cpu, databaseCpu }] of found.entries()) {
    const figures = [Math.round(perSecond), p50.toFixed(2), cpu.toFixed(1), databaseCpu.toFixed(1)];
    console.log(`| ${services[index]![0]} | ${figures.join(' | ')} |`);
  }
  const [first, second] = found as [(typeof found)[0], (typeof found)[0]];
  const share = (of: (figures: (typeof found)[0]) => number) => (of(first) / of(second)).toFixed(3);
  console.log(
    `\n${services[0]![0]} over ${services[1]![0]}: throughput ${share(({ perSecond }) => perSecond)} ×, ` +
      `Node CPU ${share(({ cpu }) => cpu)} ×, CPU of both ${share(({ cpu, databaseCpu }) => cpu + databaseCpu)} ×`,
  );
}
