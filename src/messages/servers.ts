import type { LoggerService } from '@nestjs/common';
import { type RmqContext, ServerNats, ServerRMQ, ServerTCP, type NatsContext } from '@nestjs/microservices';
import { answerForThrown, DomainError } from '../../libs/errors/src/index.js';

/** Each message goes to one instance. */
const QUEUE = 'time-logs';
/** The most characters of a message, with what a packet holds of the next one. More ends the connection. */
const LONGEST = 2 * 1_048_576;
/** Events of the connection reach the log through its status, in one line each. */
const SILENT: LoggerService = { log: nothing, error: nothing, warn: nothing, debug: nothing };

type Publish = (response: object) => unknown;

/** Messages from clients of our own port. */
export class Tcp extends ServerTCP {
  protected override readonly logger = SILENT as never;
}

class Nats extends ServerNats {
  protected override readonly logger = SILENT as never;

  override async handleMessage(...args: Parameters<ServerNats['handleMessage']>): Promise<unknown> {
    const { data, reply, respond } = args[1] as unknown as NatsMessage;
    if (isJson(Buffer.from(data).toString())) return super.handleMessage(...args) as Promise<unknown>;
    if (reply) respond.call(args[1], JSON.stringify(notJson()));
    return undefined;
  }

  override getPublisher(...args: [never, string, NatsContext]): Publish {
    const publish = super.getPublisher(...args) as Publish;
    return (response) => {
      try {
        return publish(response);
      } catch {
        // A NATS server takes 1 MiB by default; its max_payload may differ.
        return publish(
          packetOf(
            new DomainError(
              'PAYLOAD_TOO_LARGE',
              'the answer is larger than the transport takes: ask for fewer with limit',
            ),
          ),
        );
      }
    };
  }
}

class Rmq extends ServerRMQ {
  protected override readonly logger = SILENT as never;

  override async handleMessage(...args: Parameters<ServerRMQ['handleMessage']>): Promise<void> {
    // Null where the broker has ended the consumer.
    const message = args[0] as unknown as RabbitMessage | null;
    if (message === null || isJson(message.content.toString())) return super.handleMessage(...args);
    const { replyTo, correlationId = '' } = message.properties;
    if (replyTo === undefined) return;
    this.sendMessage(notJson(), replyTo, correlationId, {} as RmqContext);
  }
}

interface NatsMessage {
  readonly data: Uint8Array;
  readonly reply?: string;
  readonly respond: (answer: string) => unknown;
}

interface RabbitMessage {
  readonly content: Buffer;
  readonly properties: { readonly replyTo?: string; readonly correlationId?: string };
}

/** The server of Nest for a URL of the setting. */
export function serverOf(url: URL): Tcp | Nats | Rmq {
  const { protocol, hostname, port, username, password } = url;
  if (protocol === 'tcp:') {
    return new Tcp({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), maxBufferSize: LONGEST });
  }
  if (protocol === 'amqp:') return new Rmq({ urls: [url.href], queue: QUEUE });
  return new Nats({
    servers: [`${hostname}:${port || '4222'}`],
    queue: QUEUE,
    name: QUEUE,
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 1_000,
  });
}

function notJson(): object {
  return packetOf(new DomainError('VALIDATION_ERROR', 'the message must be valid JSON'));
}

function packetOf(error: DomainError): object {
  return { err: answerForThrown(error).body, isDisposed: true };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function nothing(): void {
  return;
}
