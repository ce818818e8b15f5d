import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { INestApplication } from '@nestjs/common';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { DestinationStream } from 'pino';
import { EdgeAdapter } from '../../libs/http-edge/src/index.js';
import { describeConnection } from '../messages/index.js';
import { AppModule, readAttributes } from '../app.module.js';
import { openDatabase } from '../database/setup/index.js';
import { AttributeRules } from '../time-log/index.js';
import type { Config } from './config.js';
import { ServiceLogger } from './service-logger.js';
import { firstAttributes, firstToken, lacksToken, welcomeText } from './welcome.js';

/** A message from before the logger exists. */
export interface StartupMessage {
  readonly line: string;
  readonly level: 'log' | 'warn';
}

interface ServeOptions {
  readonly config: Config;
  readonly startupMessages: readonly StartupMessage[];
  /** Receives the log as lines of JSON. The default is standard output. */
  readonly log?: DestinationStream;
  /** Prints text that is not part of the log. */
  readonly print: (text: string) => void;
  readonly stop: AbortController;
}

/** Serves until the signal, then drains. It also cleans up after a failed start. */
export async function serve({ config, startupMessages, log, print, stop }: ServeOptions): Promise<void> {
  const { signal } = stop;
  const attributes = await readAttributes(config);
  const logger = await ServiceLogger.open(config.logLevel, config.logAsJson, log);
  for (const { line, level } of startupMessages) logger[level](line);
  signal.addEventListener('abort', () => logger.log('shutting down'));
  const database = await openDatabase({
    ...config,
    signal,
    log: (line) => logger.logPostgres(line),
    // The embedded database cannot come back: drain, then end with its error.
    onFailure: (error) => stop.abort(error),
  });
  try {
    const { url: databaseUrl, migrationUrl, migrationSetting } = database;
    const app = await NestFactory.create<NestExpressApplication>(
      await AppModule.forRoot({
        config,
        attributes,
        databaseUrl,
        migrationUrl,
        migrationSetting,
        signal,
        logger,
      }),
      new EdgeAdapter(config.limits),
      { bodyParser: false, abortOnError: false, logger },
    );
    try {
      logger.log(`the database is ready: ${database.name}`);
      const token = await firstToken(app, config, database);
      const port = await listen(app, config);
      if (config.messagesUrl !== undefined) await takeMessages(app, config.messagesUrl, config, logger);
      logger.log(
        [
          `listening on port ${port} of ${config.host ?? 'all interfaces'}`,
          describeConnection('messages', 'MESSAGES_URL', config.messagesUrl),
          describeConnection('events', 'EVENTS_URL', config.eventsUrl),
        ].join('; '),
      );
      if (config.isProduction && config.host === undefined)
        logger.warn(
          'listening on all interfaces without TLS: behind a proxy on this machine set HOST=127.0.0.1; elsewhere keep the port in a private network',
        );
      const noToken = token === undefined && (await lacksToken(app, config));
      if (noToken && config.isProduction)
        logger.warn('no token is valid: create one with npm run --silent token -- create --name NAME');
      // After each restart of a server, the first steps would hide the last lines of its log.
      else if (config.isProduction ? token?.isNew : (token ?? noToken))
        print(
          welcomeText({
            ...config,
            tokenFile: token?.file,
            port,
            today: new Date(),
            attributes: await firstAttributes(app.get(AttributeRules, { strict: false })),
          }),
        );
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
  signal.throwIfAborted();
}

/** Connects to the broker of MESSAGES_URL. Throws a one-line Error. */
async function takeMessages(
  app: NestExpressApplication,
  url: string,
  { limits: { bodyLimit } }: Config,
  logger: ServiceLogger,
): Promise<void> {
  const { MESSAGE_QUEUE: queue } = await import('../messages/time-logs/index.js');
  const { connectMessages } = await import('../messages/transports/index.js');
  await connectMessages(app, { logger, url, setting: 'MESSAGES_URL', queue, bodyLimit });
}

type Address = Pick<Config, 'host' | 'port'>;

const noAddress = ({ host }: Address) =>
  `the name ${host} has no address: set HOST to an address of this machine, or remove it`;

/** The messages for system errors that a setting causes, by error code. */
const MESSAGES: Record<string, (address: Address) => string> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use: stop the program that listens on it, or set PORT to another one`,
  EACCES: ({ port }) => `this user may not listen on port ${port}: set PORT to 1024 or higher`,
  EADDRNOTAVAIL: ({ host }) => `${host} is not an address of this machine: set HOST to one, or remove it`,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
};

/** Starts listening and returns the port. Throws a one-line Error if a setting prevents it. */
async function listen(app: INestApplication, { host, port }: Address): Promise<number> {
  try {
    await (host === undefined ? app.listen(port) : app.listen(port, host));
  } catch (error) {
    const message = MESSAGES[(error as NodeJS.ErrnoException).code ?? ''];
    throw message ? new Error(message({ host, port }), { cause: error }) : error;
  }
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}
