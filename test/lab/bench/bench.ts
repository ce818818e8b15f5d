import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ProgressLine } from '../../../src/commands/progress-line.js';
import { removeLibpqVariables } from '../../../src/process/config.js';
import { firstColumn, PostgresCluster } from '../../support/postgres-cluster.js';
import { storeToken } from '../tokens.js';
import { type Load, LOAD_NAMES, type LoadName, loadOf } from './loads.js';
import { BASELINES, Program, type ProgramName } from './program.js';
import { faultsOf, type Measurement, tableOf } from './report.js';
import { expectSameAnswers, type Round, runRound } from './round.js';
import { dataSetOf, type Owner, provide } from './seed.js';

const USAGE = `Usage: npm run bench -- [OPTION]...

  --sizes LIST     logs in the database, such as 10k,1m (default), 100m
  --only LIST      loads by their names, or the beginnings of several: ${LOAD_NAMES.join(', ')}
  --programs LIST  besides the service: ${BASELINES.join(', ')} (all of them), or service for it alone
  --older DIR      an earlier version of this project, built, for "CPU × older"
  --seconds N      of a round of one program (5)
  --rounds N       measured rounds of each program (3)`;

const TOKEN_OF_BASELINES = 'a-constant-token-of-the-baselines';
const UNITS = { '': 1, k: 1_000, m: 1_000_000 };

const { values: given } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10k,1m' },
    only: { type: 'string', default: '' },
    programs: { type: 'string', default: BASELINES.join() },
    older: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const sizes = given.sizes
  .split(',')
  .map((text) => parseInt(text) * UNITS[text.replace(/\d+/, '') as keyof typeof UNITS]);
const prefixes = given.only.split(',');
const isWhole = (text: string) => LOAD_NAMES.some((name) => name === text);
const loads = LOAD_NAMES.filter((name) =>
  prefixes.some((prefix) => (isWhole(prefix) ? name === prefix : name.startsWith(prefix))),
);
const listed = ['service', ...given.programs.split(','), ...(given.older ? ['older'] : [])];
const names = [...new Set(listed)] as ProgramName[];
const [seconds, rounds] = [Number(given.seconds), Number(given.rounds)];
const older = given.older && resolve(process.env.INIT_CWD ?? '.', given.older);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const progress = new ProgressLine(process.stderr);

if (given.help) console.log(USAGE);
else await run();

/** Measures everything that was asked for, size by size, and prints the table. */
async function run(): Promise<void> {
  removeLibpqVariables(process.env);
  const folder = await mkdtemp(join(tmpdir(), 'time-logs-bench-'));
  const server = await PostgresCluster.create();
  const measurements: Measurement[] = [];
  try {
    for (const size of sizes) await measure(size, server, folder, measurements);
  } finally {
    progress.end();
    const [version] = await firstColumn(server.url, 'show server_version');
    console.log(`Node ${process.versions.node}, PostgreSQL ${String(version)}, rounds of ${seconds} s\n`);
    console.log(tableOf(measurements));
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  }
  if (measurements.some((measurement) => faultsOf(measurement).length > 0)) {
    console.error('\nSome requests failed: see the last column.');
    process.exitCode = 1;
  }
}

/** Adds the measurements of a size; the folder is for what the programs print. */
async function measure(
  size: number,
  server: PostgresCluster,
  folder: string,
  measurements: Measurement[],
): Promise<void> {
  const urls = new Map<Owner, string>();
  const programs: Program[] = [];
  try {
    for (const name of names) {
      const owner = name === 'service' || name === 'older' ? name : 'baseline';
      const seeding = { size, older, progress, signal: stop.signal };
      if (!urls.has(owner)) urls.set(owner, await provide(server, owner, seeding));
      const databaseUrl = urls.get(owner)!;
      const token = owner === 'baseline' ? TOKEN_OF_BASELINES : await storeToken(databaseUrl);
      const begun = performance.now();
      programs.push(
        await Program.start({ name, databaseUrl, token, older, logFile: join(folder, `${name}.log`) }),
      );
      progress.printLine(`${name} started in ${Math.round(performance.now() - begun)} ms`);
    }
    const serviceUrl = urls.get('service')!;
    const data = await dataSetOf(serviceUrl, size);
    for (const name of loads) {
      let load: Load = loadOf(name, data);
      // A load of a caller of some projects has a token of its own.
      if (load.projects) {
        const requests = load.requests(await storeToken(serviceUrl, load));
        load = { ...load, requests: () => requests };
      }
      const compared = programs.filter(
        (program) => program.name === 'service' || (load.rivals ?? names).includes(program.name),
      );
      if (load.path !== undefined && compared.length > 1) await expectSameAnswers(compared, load.path);
      const runOne = (one: Program) => runRound(server, seconds, load, one);
      for (const [program, found] of await compare(compared, runOne, name))
        measurements.push({ size, name, load, program: program.name, rounds: found });
    }
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

/** Puts a load on each program in turn, in an order that rotates, after a round that does not count. */
async function compare(
  programs: readonly Program[],
  runOne: (program: Program) => Promise<Round>,
  name: LoadName,
): Promise<Map<Program, Round[]>> {
  const found = new Map(programs.map((program) => [program, [] as Round[]]));
  for (const program of programs) await runOne(program);
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < programs.length; turn++) {
      stop.signal.throwIfAborted();
      const program = programs[(round + turn) % programs.length]!;
      const one = await runOne(program);
      found.get(program)!.push(one);
      progress.printLine(
        `${name}, round ${round + 1}, ${program.name}: ${Math.round(one.perSecond)} requests/s`,
      );
    }
  return found;
}
