import type { Server } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { brokerName } from '../broker-name.js';
import { MessagesUnderWay } from '../messages-under-way.js';
import { headerOf, patternOf } from '../rpc-message.js';
import type { BrokerServer, MessageServerOptions, Reach } from './message-server.js';
import { NatsServer } from './nats.server.js';
import { RabbitServer } from './rabbitmq.server.js';
import { TCP_TIMES, TcpServer } from './tcp.server.js';

/** Milliseconds after which a broker that is still out of reach is reported. */
const PATIENCE = 3_000;

export interface ConnectOptions extends MessageServerOptions {
  readonly url: string;
  /** The name of the setting that holds the URL. */
  readonly setting: string;
  /** Puts what is done for a message into a trace. */
  readonly tracing?: MessageTracing | undefined;
  /** Looks after clients that connect to us, as it does over HTTP. */
  readonly unread?: { watch(server: Server): void };
}

/** What begins and ends the trace of a message. `context` is Nest's. */
interface MessageTracing {
  begin<T>(
    message: { readonly context: object; readonly pattern: string; readonly headerOf: HeaderOf },
    handle: () => T,
  ): T;
  end(context: object): void;
}

type HeaderOf = (name: string) => string | undefined;

/**
 * Starts to take messages, over the transport of its URL: `tcp`, `nats` or `amqp`. Call it after `listen()`: else
 * handlers may run before the hooks of the start. It tries for ever to reach a broker, and logs one line when the
 * broker is away, with the cause, and one when it is back. Throws an Error with one clear line where the address of a
 * `tcp` URL is not free.
 */
export async function connectMessages(app: INestApplication, options: ConnectOptions): Promise<void> {
  const { setting, tracing, unread } = options;
  const url = new URL(options.url);
  const server = serverOf(url, options);
  const name = brokerName(url);
  if (tracing) trace(server, tracing);
  app.get(MessagesUnderWay, { strict: false }).transport = server;
  if (server instanceof TcpServer) unread?.watch(server.unwrap<Server>());
  const listening = app.connectMicroservice({ strategy: server }).listen();
  if (!(server instanceof TcpServer)) {
    tellReach(server, name, options);
    // It ends when the broker is reached. What keeps it away has been told then.
    listening.catch(() => undefined);
    return;
  }
  await Promise.race([listening, new Promise((_resolve, reject) => server.on('error', reject))]).catch(
    (error: unknown) => {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new Error(
        `messages: ${name} cannot be taken (${code}): set ${setting} to an address of this machine with a free port`,
        { cause: error },
      );
    },
  );
}

function serverOf(url: URL, options: MessageServerOptions): TcpServer | NatsServer | RabbitServer {
  if (url.protocol === 'tcp:') return new TcpServer(url, options.bodyLimit, TCP_TIMES);
  return url.protocol === 'amqp:' ? new RabbitServer(url, options) : new NatsServer(url, options);
}

/** Nest calls these hooks with each message, before its guards and after its answer. */
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
  // Its type lacks the promise, on which Nest waits all the same.
  server.setOnProcessingStartHook(begin as (...args: unknown[]) => void);
  server.setOnProcessingEndHook((_transport, context) => tracing.end(context as object));
}

function tellReach(server: BrokerServer, name: string, { logger, queue, setting }: ConnectOptions): void {
  const lines: Record<Reach, () => Promise<void>> = {
    connected: async () => logger.log(`messages: connected to ${name}`),
    away: async () =>
      logger.error(`messages: ${name} is out of reach (${await server.whyAway()}); HTTP goes on`),
    'queue refused': async () =>
      logger.error(
        `messages: ${name} refuses the queue ${queue}: delete it if it was made with other arguments (durable alone is right), or allow the user of ${setting} to make and read it`,
      ),
  };
  let known: Reach | undefined;
  // One after the other: to learn a cause takes time.
  let told = Promise.resolve();
  const tell = (now: Reach) => {
    clearTimeout(timer);
    if (known === now) return;
    known = now;
    told = told.then(lines[now]);
  };
  const timer = setTimeout(() => tell('away'), PATIENCE);
  timer.unref();
  server.reach.subscribe(tell);
}
