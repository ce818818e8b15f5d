import 'reflect-metadata';
import { once } from 'node:events';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DestinationStream } from 'pino';
import { EdgeAdapter } from '../../libs/http-edge/src/index.js';
import { AppModule, MODULES } from '../app.module.js';
import { EMBEDDED_DATABASES } from '../packages.js';
import type { Config } from './config.js';
import { openDatabase } from '../database/setup/index.js';
import { firstSteps, firstTokenFile, lacksToken } from './first-steps.js';
import { listen } from './listening.js';
import { ServiceLogger } from './logging.js';
import { findTracing } from './tracing.js';

/** What is told before there is a log. */
export interface Note {
  readonly line: string;
  readonly level: 'log' | 'warn';
}

interface Start {
  readonly config: Config;
  readonly notes: readonly Note[];
  /** Takes the log as lines of JSON; without it the log goes to standard output. */
  readonly log?: DestinationStream;
  /** Writes beside the log. */
  readonly say: (text: string) => void;
  readonly stop: AbortController;
}

/** Serves until the signal, then drains. Ends everything that was started, even if the start fails half-way. */
export async function serve({ config, notes, log, say, stop }: Start): Promise<void> {
  const { signal } = stop;
  const tracing = await findTracing();
  const logger = await ServiceLogger.open(config.logLevel, config.logAsJson, tracing, log);
  for (const { line, level } of notes) logger[level](line);
  signal.addEventListener('abort', () => logger.log('shutting down'));
  const database = await openDatabase(EMBEDDED_DATABASES, {
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
      for (const module of MODULES) await module.connect?.(app, config, { logger, tracing });
      const connections = MODULES.flatMap(({ describeConnection }) => describeConnection?.(config) ?? []);
      logger.log(
        [`listening on port ${port} of ${config.host ?? 'all interfaces'}`, ...connections].join('; '),
      );
      // Standard output belongs to the log.
      if (tokenFile !== undefined || (await lacksToken(app, config)))
        say(firstSteps({ ...config, tokenFile, port, today: new Date() }));
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
  signal.throwIfAborted();
}
