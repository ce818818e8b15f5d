import type { Server } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { UnreadAnswers } from '../../libs/http-edge/src/index.js';
import { headerOf, MessagesUnderWay, patternOf } from '../../libs/message-edge/src/index.js';
import { REQUEST_BOUNDS, type RequestBounds } from '../../libs/strict-request/src/index.js';
import type { Reach } from './door.server.js';
import { NatsServer } from './nats.server.js';
import { RabbitServer } from './rabbitmq.server.js';
import { TcpServer } from './tcp.server.js';

/** Milliseconds after which a broker that is still out of reach is reported. */
const PATIENCE = 3_000;

/** Shows a person one line. */
type Say = (line: string) => void;

export interface MessageDoorOptions {
  readonly say: Say;
  /** Puts what is done for a message into a trace. */
  readonly tracing?: MessageTracing | undefined;
  /** Looks after clients that connect to us, as it does over HTTP. */
  readonly unread?: UnreadAnswers;
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
 * Starts to take messages, over the transport of a URL: `tcp`, `nats` or `amqp`. Call it after `listen()`: else
 * handlers may run before the hooks of the start. It tries for ever to reach a broker, and logs one line when the
 * broker is away and one when it is back. Throws an Error with one clear line where the address of a `tcp` URL is not
 * free.
 */
export async function connectMessages(
  app: INestApplication,
  url: string,
  { say, tracing, unread }: MessageDoorOptions,
): Promise<void> {
  const server = serverOf(new URL(url), app.get<RequestBounds>(REQUEST_BOUNDS, { strict: false }));
  if (tracing) trace(server, tracing);
  app.get(MessagesUnderWay, { strict: false }).transport = server;
  if (server instanceof TcpServer) unread?.watch(server.unwrap<Server>());
  const listening = app.connectMicroservice({ strategy: server }).listen();
  if (!(server instanceof TcpServer)) {
    tellReach(server.reach, say);
    // It resolves when the broker is reached.
    listening.catch(() => say('messages: the broker of MESSAGES_URL refuses the connection: check the URL'));
    return;
  }
  await Promise.race([listening, new Promise((_resolve, reject) => server.on('error', reject))]).catch(
    (error: unknown) => {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new Error(
        `messages: the address of MESSAGES_URL cannot be taken (${code}): give one of this machine with a free port`,
        { cause: error },
      );
    },
  );
}

function serverOf(url: URL, { bodyLimit }: RequestBounds): TcpServer | NatsServer | RabbitServer {
  if (url.protocol === 'tcp:') return new TcpServer(url, bodyLimit);
  return url.protocol === 'amqp:' ? new RabbitServer(url) : new NatsServer(url);
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

/** What the log says when the reach has changed. */
const LINES: Record<Reach, string> = {
  connected: 'messages: connected to the broker',
  away: 'messages: the broker is out of reach; HTTP goes on',
  'queue refused':
    'messages: the broker refuses the queue time-logs: delete it if it was made with other arguments (durable alone is right), or allow the user of MESSAGES_URL to make and read it',
};

function tellReach(reach: Observable<Reach>, say: Say): void {
  let known: Reach | undefined;
  const tell = (now: Reach) => {
    clearTimeout(timer);
    if (known === now) return;
    known = now;
    say(LINES[now]);
  };
  const timer = setTimeout(() => tell('away'), PATIENCE);
  timer.unref();
  reach.subscribe(tell);
}
