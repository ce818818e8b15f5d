import { setFlagsFromString } from 'node:v8';
import { asksForHelp, refuseArguments, UsageError } from './commands/command-line.js';
import { loadProcessConfig } from './process/config.js';
import type { StartupMessage } from './process/serve.js';

const USAGE = `Usage:
  npm start

Serves until Ctrl-C or SIGTERM. Settings are environment variables; .env.example lists all of them with their defaults.`;
/** The time after the shutdown delay at which the process exits in any case. */
const SHUTDOWN_TIMEOUT_MS = 9_500;

// By default the heap grows to four times its live data before a major collection. With a factor of
// two and a young generation of 16 MB (only the command line can set it: npm start,
// docker/Dockerfile), the service stays below 256 MB. A smaller young generation is collected more
// often, and each collection copies what open requests use.
setFlagsFromString('--heap-growing-percent=100');
// Little of the young generation survives. Parallel collection costs a seventh of a list.
setFlagsFromString('--no-parallel-scavenge');

const stop = new AbortController();
// Registered first, so that no signal during the start is lost. A second signal does nothing: npm
// repeats the signal that the terminal has already sent.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());

try {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) console.log(USAGE);
  else {
    refuseArguments(args);
    const startupMessages: StartupMessage[] = [];
    const config = loadProcessConfig((line, level) => startupMessages.push({ line, level }));
    const timeout = SHUTDOWN_TIMEOUT_MS + config.shutdownDelay * 1_000;
    stop.signal.addEventListener('abort', () => {
      setTimeout(() => process.exit(isAbort(stop.signal.reason) ? 0 : 1), timeout).unref();
    });
    // Loading the service takes a second. The help text and errors in the settings do not need it.
    const { serve } = await import('./process/serve.js');
    await serve({ config, startupMessages, print: console.error, stop });
  }
} catch (error) {
  if (!isAbort(error) || !stop.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    if (error instanceof UsageError) console.error(`\n${USAGE}`);
    process.exit(1);
  }
}
process.exit(0);

/** Returns whether a signal has ended the process. Any other reason is a failure. */
function isAbort(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'AbortError';
}
