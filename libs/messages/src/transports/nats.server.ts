import { type BaseRpcContext, NatsContext, ServerNats } from '@nestjs/microservices';
import { filter, map, type Observable } from 'rxjs';
import { reasonOf } from '../../../errors/src/index.js';
import { messageTooLarge } from '../../../strict-request/src/index.js';
import { natsOptionsOf } from '../broker-name.js';
import { LARGEST_MESSAGE } from '../packet.js';
import { boundedAnswer, BUSY, bytesOf, MOST_UNSENT, packetOf, TOO_LARGE } from './answer-packet.js';
import { MessageBudget } from './message-budget.js';
import { MessageRunner } from './message-runner.js';
import {
  type BrokerServer,
  type MessageServerOptions,
  type Reach,
  replyRule,
  SILENT,
} from './message-server.js';

/** Bytes of answers after which the broker is asked whether it has them. */
const ASK_ABOVE = 1024 * 1024;

/** Bytes of a message besides its data. Headers take the client library time that grows with their square. */
const MAX_HEADER_BYTES = 2_048;

/** Milliseconds for a try to connect. */
const TRY_LIMIT = 2_000;

/**
 * Messages by way of a NATS server. It is waited for at the start and later, for ever. NATS keeps no message back: what
 * the service has no place for is refused at once.
 */
export class NatsServer extends ServerNats implements BrokerServer {
  readonly reach: Observable<Reach> = (this.status as Observable<string>).pipe(
    filter((status) => status === 'connected' || status === 'disconnected'),
    map((status) => (status === 'connected' ? status : 'away')),
  );
  protected override readonly logger = SILENT as never;
  private readonly taking: Subscription[] = [];
  private readonly runner: MessageRunner;
  private readonly budget: MessageBudget;
  private readonly tooLarge: Buffer;
  private readonly mayReplyTo: ReturnType<typeof replyRule>;
  /** How many bytes of all answers the broker is known to have. */
  private taken = 0;
  private asking: Promise<void> | undefined;

  constructor(
    private readonly url: URL,
    options: MessageServerOptions,
  ) {
    const { queue, bodyLimit, mostUnderWay } = options;
    super({
      ...natsOptionsOf(url),
      name: queue,
      queue,
      waitOnFirstConnect: true,
      maxReconnectAttempts: -1,
      // A refusal may pass too: the broker's users can change.
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: 1_000,
    });
    // Nest has none of its own.
    this.setOnProcessingEndHook(() => undefined);
    const nest = {
      handlers: this.messageHandlers,
      begin: (context: BaseRpcContext, handle: () => Promise<void>) =>
        this.onProcessingStartHook(this.transportId, context, handle),
      end: (context: BaseRpcContext) => this.onProcessingEndHook(this.transportId, context),
    };
    this.runner = new MessageRunner(nest, bodyLimit);
    this.budget = new MessageBudget(mostUnderWay);
    this.tooLarge = bytesOf(packetOf(messageTooLarge(bodyLimit)));
    this.mayReplyTo = replyRule('_INBOX.', options);
  }

  /** The client that waits tells nobody why its tries fail. So another one tries once. */
  async whyAway(): Promise<string> {
    try {
      const once = new ServerNats({ ...natsOptionsOf(this.url), reconnect: false, timeout: TRY_LIMIT });
      const client = (await once.createNatsClient()) as { close(): Promise<void> };
      await client.close();
      return 'the connection was lost';
    } catch (error) {
      return reasonOf(error);
    }
  }

  override bindEvents(client: Client): void {
    const subscribe: Client['subscribe'] = (...subject) => {
      const subscription = client.subscribe(...subject);
      this.taking.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  /** In the place of Nest's, which begins with all that comes at once. */
  override getMessageHandler(subject: string): (error: unknown, message: NatsMessage) => void {
    return (error, message) => {
      if (error || !this.mayReplyTo(message.reply)) return;
      const size = message.size();
      if (size > LARGEST_MESSAGE) respond(message, this.tooLarge);
      // It fails where the connection was closed, at the end of the service.
      else if (this.budget.fits(size)) this.answer(subject, message).catch(() => undefined);
      else respond(message, BUSY);
    };
  }

  async stopTaking(): Promise<void> {
    await Promise.all(this.taking.map((subscription) => subscription.drain()));
    await this.runner.begun();
  }

  get isFull(): boolean {
    return this.unsent > MOST_UNSENT;
  }

  async sent(): Promise<void> {
    const client = this.unwrap<Client>();
    const { outBytes } = client.stats();
    // It fails where the connection is lost, and all that waited with it.
    await client.flush().catch(() => undefined);
    this.taken = Math.max(this.taken, outBytes);
  }

  /** The bytes of answers that the broker may not have yet. */
  private get unsent(): number {
    const unsent = this.unwrap<Client>().stats().outBytes - this.taken;
    if (unsent > ASK_ABOVE) this.asking ??= this.sent().finally(() => (this.asking = undefined));
    return unsent;
  }

  private async answer(subject: string, message: NatsMessage): Promise<void> {
    const { data } = message;
    const size = message.size();
    this.budget.take(size);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const headersOf = () => (size - data.length > MAX_HEADER_BYTES ? undefined : message.headers);
    const contextOf = () => new NatsContext([subject, headersOf()]);
    const answer = await this.runner.run(bytes, contextOf, subject);
    this.budget.free(size);
    respond(message, boundedAnswer(answer, this.unsent));
  }
}

function respond(message: NatsMessage, answer: Buffer): void {
  if (!message.reply) return;
  try {
    message.respond(answer);
  } catch {
    // A NATS server takes 1 MiB by default; its max_payload may differ.
    message.respond(TOO_LARGE);
  }
}

interface Subscription {
  drain(): Promise<void>;
}

interface Client {
  subscribe(...subject: unknown[]): Subscription;
  stats(): { readonly outBytes: number };
  flush(): Promise<void>;
}

interface NatsMessage {
  readonly data: Uint8Array;
  /** Decoded when it is read. */
  readonly headers?: unknown;
  readonly reply?: string;
  /** Bytes of all that came. */
  size(): number;
  respond(answer: Buffer): unknown;
}
