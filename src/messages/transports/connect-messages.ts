import type { INestApplication } from '@nestjs/common';
import { ServerTCP } from '@nestjs/microservices';
import { brokerName } from '../broker-connection.js';
import { InFlightMessages } from '../in-flight-messages.js';
import type { BrokerServer, BrokerState, MessageServerOptions } from './broker-server.js';
import { NatsServer } from './nats.server.js';
import { RabbitServer } from './rabbitmq.server.js';

/** The size of all data of one TCP connection that waits to be processed, in characters. */
const MAX_WAITING_CHARACTERS = 2 * 1024 * 1024;
/** The size of all answers that one TCP connection has not taken. The largest list has 20 MB. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** The maximum time between two parts of a message over TCP. */
const INCOMPLETE_MESSAGE_TIMEOUT_MS = 10_000;
/** The time after which a broker that was not reached is logged. */
const UNREACHED_AFTER_MS = 3_000;

interface ConnectOptions extends MessageServerOptions {
  readonly url: string;
  /** The name of the setting that holds the URL. */
  readonly setting: string;
}

/**
 * Starts receiving messages over the transport of the URL: `tcp`, `nats` or `tls` (NATS), `amqp` or
 * `amqps`. Call it after `listen()`: otherwise handlers may run before the lifecycle hooks. It never
 * gives up connecting to a broker. It logs one line with the cause when the broker is out of reach,
 * and one when it is connected. Throws an Error with a message of one line if it cannot listen on
 * the address of a `tcp` URL.
 */
export async function connectMessages(app: INestApplication, options: ConnectOptions): Promise<void> {
  const url = new URL(options.url);
  if (url.protocol === 'tcp:') return listenTcp(app, url, options);
  const server = url.protocol.startsWith('amqp')
    ? new RabbitServer(url, options)
    : new NatsServer(url, options);
  app.get(InFlightMessages, { strict: false }).stopReceiving = () => server.stopReceiving();
  logBrokerState(server, brokerName(url), options);
  // It settles when the broker is reached. Until then logBrokerState logs the cause.
  app
    .connectMicroservice({ strategy: server })
    .listen()
    .catch(() => undefined);
}

async function listenTcp(app: INestApplication, url: URL, { setting }: ConnectOptions): Promise<void> {
  const server = new ServerTCP({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port),
    maxBufferSize: MAX_WAITING_CHARACTERS,
    maxSendBufferSize: MAX_UNSENT_BYTES,
    incompleteMessageTimeout: INCOMPLETE_MESSAGE_TIMEOUT_MS,
  });
  try {
    // Nest reports only two of the errors of listening.
    const listening = app.connectMicroservice({ strategy: server }).listen();
    await Promise.race([listening, new Promise((_resolve, reject) => server.on('error', reject))]);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(
      `messages: cannot listen on ${brokerName(url)} (${code}): set ${setting} to an address of this machine with a free port`,
      { cause: error },
    );
  }
}

function logBrokerState(
  server: BrokerServer,
  name: string,
  { logger, queue, setting }: ConnectOptions,
): void {
  const logState: Record<BrokerState, () => Promise<void>> = {
    connected: async () => logger.log(`messages: connected to ${name}`),
    disconnected: async () =>
      logger.error(
        `messages: ${name} is out of reach (${await server.findOutageReason()}); HTTP is not affected`,
      ),
    'queue deleted': async () =>
      logger.error(
        `messages: ${name} has deleted the queue ${queue}, or stopped delivering from it; the service declares it again`,
      ),
    'queue refused': async () =>
      logger.error(
        `messages: ${name} refuses the queue ${queue}: delete it if it was declared with other arguments than durable, or allow the user of ${setting} to declare and read it`,
      ),
  };
  let last: BrokerState | undefined;
  // In order: finding the reason of an outage takes time.
  let logged = Promise.resolve();
  const logChange = (state: BrokerState) => {
    clearTimeout(timer);
    if (last === state) return;
    last = state;
    logged = logged.then(logState[state]);
  };
  const timer = setTimeout(() => logChange('disconnected'), UNREACHED_AFTER_MS);
  timer.unref();
  server.states.subscribe(logChange);
}
