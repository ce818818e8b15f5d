import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeLibpqVariables } from '../../../src/config.js';
import { compare } from './compare.js';
import { NO_LOGS } from './data-set.js';
import { Driver } from './driver.js';
import { makeToken, Program, runCommand } from './program.js';
import { type Measurement, summaryOf } from './results.js';
import { connect, Server } from './server.js';

// What column and index of the feed cost a create: the service on two databases in turn, one of which lacks them.
// Usage: npm run bench -- feed [ROUNDS] [SECONDS]

const [rounds = 10, seconds = 4] = process.argv.slice(2).map(Number);
/** A start calls the function, which would look at the column. */
const WITHOUT_COLUMN = `
  alter table time_logs drop column position;
  create or replace function keep_time_log_positions() returns bigint language sql as 'select 0::bigint'`;

removeLibpqVariables(process.env);
const { signal } = new AbortController();
const folder = await mkdtemp(join(tmpdir(), 'time-logs-bench-'));
const { BENCH_DATABASE_URL: url } = process.env;
const server = await Server.open(url ? { url } : { directory: folder }, signal);
const driver = Driver.start(signal);
const programs: Program[] = [];
const names = ['with', 'without'].map((name) => `time_logs_bench_feed_${name}`);
try {
  for (const name of names) programs.push(await startOn(name));
  const options = { connections: 64, rounds, seconds };
  const log = (line: string) => console.error(line);
  const [whole, without] = await compare(
    { server, driver, programs, data: NO_LOGS, options, log, signal },
    'create',
  );
  tell(whole!, without!);
} finally {
  await Promise.all(programs.map((program) => program.stop()));
  driver.stop();
  for (const name of names) await server.drop(name);
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function startOn(name: string): Promise<Program> {
  await server.create(name);
  const databaseUrl = server.urlOf(name);
  await runCommand('migrate', [], databaseUrl);
  if (name.endsWith('without')) {
    const client = await connect(databaseUrl);
    await client.query(WITHOUT_COLUMN);
    await client.end();
  }
  const token = await makeToken(databaseUrl);
  return Program.start({ name: 'service', databaseUrl, token, logFile: join(folder, 'service.log'), signal });
}

/** The medians of all rounds, and how much throughput the column takes. */
function tell(whole: Measurement, without: Measurement): void {
  console.log('| | requests/s | p50 ms | CPU µs | PostgreSQL CPU µs |\n|---|---|---|---|---|');
  for (const [what, measurement] of [
    ['with', whole],
    ['without', without],
  ] as const) {
    const { perSecond, p50, cpu, databaseCpu } = summaryOf(measurement);
    const figures = [Math.round(perSecond), p50.toFixed(2), cpu.toFixed(1), databaseCpu.toFixed(1)];
    console.log(`| ${what} | ${figures.join(' | ')} |`);
  }
  const [dear, cheap] = [summaryOf(whole), summaryOf(without)];
  const throughput = 100 * (1 - dear.perSecond / cheap.perSecond);
  const cpu = 100 * ((dear.cpu + dear.databaseCpu) / (cheap.cpu + cheap.databaseCpu) - 1);
  console.log(
    `\nThe column and its index take ${throughput.toFixed(1)} % of the throughput of creates, and add ${cpu.toFixed(1)} % to the CPU of one.`,
  );
}
