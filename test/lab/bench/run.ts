import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { ProgressLine } from '../../../src/commands/progress-line.js';
import { type Bench, compare } from './compare.js';
import type { DataSet } from './data-set.js';
import { prepareDatabases } from './databases.js';
import { Driver } from './driver.js';
import type { Options } from './options.js';
import { makeToken, Program, type ProgramName } from './program.js';
import type { Measurement, Results, Space } from './results.js';
import type { Server } from './server.js';
import { measureSpace } from './space.js';

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
  const { spread, seconds, programs } = options;
  const withBaselines = programs.some((name) => name !== 'service');
  const [starts, spaces, measurements]: [number[], Space[], Measurement[]] = [[], [], []];
  const driver = Driver.start(signal);
  try {
    for (const size of options.sizes) {
      const data = await prepareDatabases(server, { spread, size, withBaselines, progress, signal });
      spaces.push(await measureSpace(data));
      if (starts.length === 0) starts.push(...(await measureStarts(data, surroundings)));
      measurements.push(...(await measureSize(data, options, driver, surroundings)));
    }
  } finally {
    driver.stop();
  }
  const machine = {
    cores: cpus().length,
    memory: totalmem(),
    node: process.versions.node,
    postgres: server.version,
  };
  return {
    date: new Date().toISOString().slice(0, 10),
    machine,
    spread,
    seconds,
    starts,
    spaces,
    measurements,
  };
}

async function measureStarts(data: DataSet, surroundings: Surroundings): Promise<number[]> {
  const starts: number[] = [];
  while (starts.length < STARTS) {
    const program = await startProgram('service', '', data, surroundings);
    await program.stop();
    starts.push(program.startTime);
  }
  return starts;
}

async function measureSize(
  data: DataSet,
  options: Options,
  driver: Driver,
  surroundings: Surroundings,
): Promise<Measurement[]> {
  const { server, progress, signal } = surroundings;
  const token = await makeToken(data.serviceUrl);
  const programs: Program[] = [];
  try {
    for (const name of options.programs) programs.push(await startProgram(name, token, data, surroundings));
    const log = (line: string) => progress.note(line);
    const bench: Bench = { server, driver, programs, data, options, log, signal };
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
  return Program.start({
    name,
    databaseUrl: name === 'service' ? serviceUrl : baselineUrl!,
    token: name === 'service' ? token : TOKEN_OF_BASELINES,
    logFile: join(folder, `${name}.log`),
    signal,
  });
}
