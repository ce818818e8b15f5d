import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ProgressLine } from '../../../src/commands/progress-line.js';
import { removeLibpqVariables } from '../../../src/process/config.js';
import { type Options, parseOptions, USAGE, UsageError } from './options.js';
import { report } from './report.js';
import { faultsOf, type Results, textOf } from './results.js';
import { run } from './run.js';
import { Server } from './server.js';

removeLibpqVariables(process.env);
const stop = new AbortController();
const progress = new ProgressLine(process.stderr);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === undefined) console.log(USAGE);
  else tell(await measure(options));
} catch (error) {
  progress.end();
  process.exitCode = 1;
  if (!stop.signal.aborted) console.error(error instanceof Error ? error.message : error);
  if (error instanceof UsageError) console.error(`\n${USAGE}`);
}

async function measure(options: Options): Promise<Results> {
  const folder = await mkdtemp(join(tmpdir(), 'time-logs-bench-'));
  const directory = options.data === undefined ? folder : resolve(options.data);
  const { signal } = stop;
  try {
    await mkdir(directory, { recursive: true });
    const server = await Server.open(directory, signal);
    try {
      const results = await run(options, { server, folder, progress, signal });
      if (options.json !== undefined) await writeFile(options.json, textOf(results));
      return results;
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints the report. The run fails if any request has failed, since its figures are then misleading. */
function tell(results: Results): void {
  console.log(report(results));
  if (results.measurements.some((measurement) => faultsOf(measurement).length > 0)) {
    console.error('\nSome requests failed: see the last column.');
    process.exitCode = 1;
  }
}
