import { setFlagsFromString } from 'node:v8';
import { asksForHelp, refuseArguments, UsageError } from './commands/command-line.js';
import { loadProcessConfig } from './process/config.js';
import type { Note } from './process/serving.js';

const USAGE = `Usage:
  npm start

Serves until Ctrl-C or SIGTERM. Settings are variables of the environment; .env.example has every one with its default.`;
/** The most milliseconds that the end may take after the shutdown delay. */
const END_LIMIT = 9_500;

// By default the heap grows to four times its live data before it is swept. With twice, and a young generation of 16 MB
// (which only the command line can set: npm start, docker/Dockerfile), the service stays below 256 MB. A smaller one is
// collected more often, and each time costs what the requests under way keep alive.
setFlagsFromString('--heap-growing-percent=100');
// Little of a young generation survives. Waking other threads to collect it costs a seventh of a list's CPU.
setFlagsFromString('--no-parallel-scavenge');

const stop = new AbortController();
// This comes first, so that no signal during the start is lost. A second signal does nothing:
// npm repeats what the terminal has sent already.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());

try {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) console.log(USAGE);
  else {
    refuseArguments(args);
    const notes: Note[] = [];
    const config = loadProcessConfig((line, level) => notes.push({ line, level }));
    const limit = END_LIMIT + config.shutdownDelay * 1_000;
    stop.signal.addEventListener('abort', () => {
      setTimeout(() => process.exit(isAbort(stop.signal.reason) ? 0 : 1), limit).unref();
    });
    // Loading the service takes a second: help, and what is wrong with the settings, comes without it.
    const { serve } = await import('./process/serving.js');
    await serve({ config, notes, say: console.error, stop });
  }
} catch (error) {
  if (!isAbort(error) || !stop.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    if (error instanceof UsageError) console.error(`\n${USAGE}`);
    process.exit(1);
  }
}
process.exit(0);

/** True for the end that a signal has asked for. Any other end is a failure. */
function isAbort(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'AbortError';
}
