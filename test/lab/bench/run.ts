import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { ProgressLine } from '../../../src/commands/progress-line.js';
import { storeToken } from '../tokens.js';
import { compare } from './compare.js';
import type { DataSet } from './data-set.js';
import { measureSpace, prepareDatabases } from './databases.js';
import { Driver } from './driver.js';
import type { Options } from './options.js';
import { Program, type ProgramName } from './program.js';
import type { Measurement, Results, Space } from './results.js';
import type { Server } from './server.js';

const STARTS = 3;
const TOKEN_OF_BASELINES = 'a-constant-token-of-the-baselines';

interface Surroundings {
  readonly server: Server;
  /** For what the programs print. */
  readonly folder: string;
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

/** Measures everything that the options ask for, size by size. */
export async function run(options: Options, surroundings: Surroundings): Promise<Results> {
  const { server, progress, signal } = surroundings;
  const { seconds } = options;
  const withBaselines = options.programs.some((name) => name !== 'service');
  const [starts, spaces, measurements]: [number[], Space[], Measurement[]] = [[], [], []];
  const driver = Driver.start(signal);
  try {
    for (const size of options.sizes) {
      const data = await prepareDatabases(server, { size, withBaselines, progress, signal });
      spaces.push(await measureSpace(data));
      while (starts.length < STARTS) {
        const program = await startProgram('service', '', data, surroundings);
        await program.stop();
        starts.push(program.startTime);
      }
      measurements.push(...(await measureSize(data, options, driver, surroundings)));
    }
  } finally {
    driver.stop();
  }
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: cpus().length,
      memory: totalmem(),
      node: process.versions.node,
      postgres: server.version,
    },
    seconds,
    starts,
    spaces,
    measurements,
  };
}

async function measureSize(
  data: DataSet,
  options: Options,
  driver: Driver,
  surroundings: Surroundings,
): Promise<Measurement[]> {
  const { server, progress, signal } = surroundings;
  const token = await storeToken(data.serviceUrl);
  const programs: Program[] = [];
  try {
    for (const name of options.programs) programs.push(await startProgram(name, token, data, surroundings));
    const log = (line: string) => progress.printLine(line);
    const bench = { server, driver, programs, data, options, log, signal };
    const measurements: Measurement[] = [];
    for (const load of options.loads) measurements.push(...(await compare(bench, load)));
    return measurements;
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

function startProgram(
  name: ProgramName,
  token: string,
  { serviceUrl, baselineUrl }: DataSet,
  { folder, signal }: Surroundings,
): Promise<Program> {
  const isOurs = name === 'service';
  return Program.start({
    name,
    databaseUrl: isOurs ? serviceUrl : baselineUrl!,
    token: isOurs ? token : TOKEN_OF_BASELINES,
    logFile: join(folder, `${name}.log`),
    signal,
  });
}
