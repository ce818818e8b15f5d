import type { INestApplication } from '@nestjs/common';
import { brokerName } from '../broker-name.js';
import { InFlightMessages } from '../in-flight-messages.js';
import { headerOf, patternOf } from '../rpc-message.js';
import type { BrokerServer, BrokerState, MessageServerOptions } from './message-server.js';
import { NatsServer } from './nats.server.js';
import { RabbitServer } from './rabbitmq.server.js';
import { TCP_TIMEOUTS, TcpServer } from './tcp.server.js';

/** The time after which a broker that was not reached is logged. */
const UNREACHED_AFTER_MS = 3_000;

export interface ConnectOptions extends MessageServerOptions {
  readonly url: string;
  /** The name of the setting that holds the URL. */
  readonly setting: string;
  /** Traces the handling of each message. */
  readonly tracing?: MessageTracing | undefined;
}

/** Begins and ends the trace of a message. `context` is the RPC context of Nest. */
interface MessageTracing {
  begin<T>(
    message: { readonly context: object; readonly pattern: string; readonly headerOf: HeaderOf },
    handle: () => T,
  ): T;
  end(context: object): void;
}

type HeaderOf = (name: string) => string | undefined;

/**
 * Starts receiving messages over the transport of the URL: `tcp`, `nats` or `tls` (NATS), `amqp` or
 * `amqps`. Call it after `listen()`: otherwise handlers may run before the lifecycle hooks. It never
 * gives up connecting to a broker. It logs one line with the cause when the broker is out of reach,
 * and one when it is connected. Throws an Error with a message of one line if it cannot listen on
 * the address of a `tcp` URL.
 */
export async function connectMessages(app: INestApplication, options: ConnectOptions): Promise<void> {
  const { setting, tracing } = options;
  const url = new URL(options.url);
  const server = serverOf(url, options);
  const name = brokerName(url);
  if (tracing) trace(server, tracing);
  app.get(InFlightMessages, { strict: false }).transport = server;
  const listening = app.connectMicroservice({ strategy: server }).listen();
  if (!(server instanceof TcpServer)) {
    logBrokerState(server, name, options);
    // It settles when the broker is reached. Until then logBrokerState logs the cause.
    listening.catch(() => undefined);
    return;
  }
  await Promise.race([listening, new Promise((_resolve, reject) => server.on('error', reject))]).catch(
    (error: unknown) => {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new Error(
        `messages: cannot listen on ${name} (${code}): set ${setting} to an address of this machine with a free port`,
        { cause: error },
      );
    },
  );
}

function serverOf(url: URL, options: MessageServerOptions): TcpServer | NatsServer | RabbitServer {
  if (url.protocol === 'tcp:') return new TcpServer(url, options.bodyLimit, TCP_TIMEOUTS);
  return url.protocol.startsWith('amqp') ? new RabbitServer(url, options) : new NatsServer(url, options);
}

/** Sets the hooks that Nest calls for each message, before the guards and after the reply. */
function trace(server: ReturnType<typeof serverOf>, tracing: MessageTracing): void {
  const begin = (_transport: unknown, context: unknown, handle: () => Promise<unknown>) =>
    tracing.begin(
      {
        context: context as object,
        pattern: patternOf(context),
        headerOf: (name: string) => headerOf(context, name),
      },
      handle,
    );
  // Its type lacks the promise, but Nest waits for it.
  server.setOnProcessingStartHook(begin as (...args: unknown[]) => void);
  server.setOnProcessingEndHook((_transport, context) => tracing.end(context as object));
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
  server.brokerState.subscribe(logChange);
}
