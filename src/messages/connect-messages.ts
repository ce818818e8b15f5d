import type { INestApplication } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { headerOf, patternOf } from '../../libs/message-edge/src/index.js';
import { serverOf, Tcp } from './servers.js';

/** Milliseconds after which a broker that is still out of reach is reported. */
const PATIENCE = 3_000;

/** Shows a person one line. */
type Say = (line: string) => void;

export interface MessageDoorOptions {
  readonly say: Say;
  /** Puts what is done for a message into a trace. */
  readonly tracing?: MessageTracing | undefined;
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
 * Starts to take messages, over the transport of a URL: `tcp`, `nats` or `amqp`. Call it after `listen()`: else handlers
 * may run before the hooks of the start. It tries for ever to reach a broker, and logs one line when the broker is away
 * and one when it is back. Throws an Error with one clear line where the address of a `tcp` URL is not free.
 */
export async function connectMessages(
  app: INestApplication,
  url: string,
  { say, tracing }: MessageDoorOptions,
): Promise<void> {
  const server = serverOf(new URL(url));
  if (tracing) trace(server, tracing);
  if (!(server instanceof Tcp)) tellOutages(server.status, say);
  const listening = app.connectMicroservice({ strategy: server }).listen();
  if (!(server instanceof Tcp)) {
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

function tellOutages(status: Observable<string>, say: Say): void {
  let isUp: boolean | undefined;
  const tell = (up: boolean) => {
    clearTimeout(timer);
    if (isUp === up) return;
    isUp = up;
    say(up ? 'messages: connected to the broker' : 'messages: the broker is out of reach; HTTP goes on');
  };
  const timer = setTimeout(() => tell(false), PATIENCE);
  timer.unref();
  status.subscribe((now) => {
    if (now === 'connected' || now === 'disconnected') tell(now === 'connected');
  });
}
