import 'reflect-metadata';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { EdgeAdapter, UnreadAnswers } from '../libs/http-edge/src/index.js';
import { AppModule } from './app.module.js';
import { asksForHelp, refuseArguments, UsageError } from './commands/command-line.js';
import { type Config, loadProcessConfig } from './config.js';
import { firstSteps, firstTokenFile, lacksToken } from './first-steps.js';
import { doorsOf, listen } from './listening.js';
import { ServiceLogger } from './logging.js';
import { connectMessages } from './messages/index.js';
import { openDatabase } from './database-setup/index.js';
import { findTracing } from './tracing.js';

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
    await serve(config, notes, stop);
  }
} catch (error) {
  if (!isAbort(error) || !stop.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    if (error instanceof UsageError) console.error(`\n${USAGE}`);
    process.exit(1);
  }
}
process.exit(0);

/** What is told before there is a log. */
interface Note {
  readonly line: string;
  readonly level: 'log' | 'warn';
}

/** True for the end that a signal has asked for. Any other end is a failure. */
function isAbort(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'AbortError';
}

/** Serves until the signal, then drains. Ends everything that was started, even if the start fails half-way. */
async function serve(config: Config, notes: readonly Note[], stop: AbortController): Promise<void> {
  const { signal } = stop;
  const tracing = await findTracing();
  const logger = await ServiceLogger.open(config.logLevel, config.logAsJson, tracing);
  for (const { line, level } of notes) logger[level](line);
  signal.addEventListener('abort', () => {
    logger.log('shutting down');
    setTimeout(
      () => process.exit(isAbort(signal.reason) ? 0 : 1),
      END_LIMIT + config.shutdownDelay * 1_000,
    ).unref();
  });
  const database = await openDatabase({
    ...config,
    signal,
    log: (line) => logger.logPostgres(line),
    // The database is gone for good: drain, then end with its message.
    onFailure: (error) => stop.abort(error),
  });
  try {
    const { url: databaseUrl, migrationUrl, migrationSetting } = database;
    const app = await NestFactory.create<NestExpressApplication>(
      AppModule.forRoot({
        config,
        databaseUrl,
        migrationUrl,
        migrationSetting,
        signal,
        onMessage: (message) => logger.logMessage(message),
        onClose: (...request) => logger.logRequest(...request),
      }),
      new EdgeAdapter(config.limits.headersLimit),
      { bodyParser: false, abortOnError: false, logger },
    );
    try {
      logger.log(`the database is ready: ${database.name}`);
      const tokenFile = await firstTokenFile(app, config, database);
      const port = await listen(app, config);
      if (config.messagesUrl !== undefined) {
        await connectMessages(app, config.messagesUrl, { logger, tracing, unread: app.get(UnreadAnswers) });
      }
      logger.log(doorsOf(config, port));
      // Standard output belongs to the log.
      if (tokenFile !== undefined || (await lacksToken(app, config)))
        console.error(firstSteps({ ...config, tokenFile, port, today: new Date() }));
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
  signal.throwIfAborted();
}
