import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { NatsContext, ServerNats } from '@nestjs/microservices';
import { filter, type Observable } from 'rxjs';
import { natsOptionsOf } from '../broker-name.js';
import { brokerFailureOf } from '../broker-tls.js';
import { MAX_MESSAGE_BYTES } from '../packet.js';
import { BUSY_REPLY, limitReply, MAX_UNSENT_BYTES, TOO_LARGE_REPLY } from './reply-packet.js';
import { MessageBudget } from './message-budget.js';
import { MessageRunner } from './message-runner.js';
import {
  type BrokerServer,
  type BrokerState,
  type MessageServerOptions,
  replyRule,
  SILENT_LOGGER,
} from './message-server.js';

/** A message, with the number of bytes received, of which `headers` are decoded on access. */
type NatsMessage = Msg & { size(): number };

/** The number of bytes of unconfirmed replies above which they are flushed. */
const FLUSH_ABOVE_BYTES = 1024 * 1024;

/** The maximum size of headers that are decoded: the decoding time grows with its square. */
const MAX_HEADER_BYTES = 2_048;

/** The timeout of the connection that finds the reason of an outage. */
const PROBE_TIMEOUT_MS = 2_000;

/**
 * Receives messages from a NATS server, and never gives up connecting to it. NATS has no
 * backpressure: messages above the budget are refused at once.
 */
export class NatsServer extends ServerNats implements BrokerServer {
  readonly brokerState: Observable<BrokerState> = (this.status as Observable<string>).pipe(
    filter((status) => status === 'connected' || status === 'disconnected'),
  );
  protected override readonly logger = SILENT_LOGGER as never;
  private readonly activeSubscriptions: Subscription[] = [];
  private readonly queue: string;
  private readonly runner: MessageRunner;
  private readonly budget: MessageBudget;
  private readonly mayReplyTo: ReturnType<typeof replyRule>;
  /** The number of bytes that the broker has received for certain. */
  private confirmedBytes = 0;
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly url: URL,
    options: MessageServerOptions,
  ) {
    const { queue, bodyLimit, maxInFlight } = options;
    super({ queue });
    this.queue = queue;
    this.runner = new MessageRunner(this, this.handleRequest.bind(this), bodyLimit);
    this.budget = new MessageBudget(maxInFlight);
    this.mayReplyTo = replyRule('_INBOX.', options);
  }

  /** Connects once with another client: the one that retries does not report its errors. */
  async findOutageReason(): Promise<string> {
    try {
      const client = await this.openClient({ reconnect: false, timeout: PROBE_TIMEOUT_MS });
      await client.close();
      return 'the connection was lost';
    } catch (error) {
      return brokerFailureOf(error);
    }
  }

  override createNatsClient(): Promise<NatsConnection> {
    return this.openClient({
      name: this.queue,
      waitOnFirstConnect: true,
      maxReconnectAttempts: -1,
      // A refusal may be temporary: the broker's users can change.
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: 1_000,
    });
  }

  override bindEvents(client: NatsConnection): void {
    const subscribe: NatsConnection['subscribe'] = (...subject) => {
      const subscription = client.subscribe(...subject);
      this.activeSubscriptions.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  /** Replaces Nest's handler, which starts all messages that arrive at once. */
  override getMessageHandler(subject: string): (error: unknown, message: NatsMessage) => void {
    return (error, message) => {
      if (error || !this.mayReplyTo(message.reply)) return;
      const size = message.size();
      if (size > MAX_MESSAGE_BYTES) respond(message, this.runner.tooLargeReply);
      // It fails if the connection was closed by a shutdown.
      else if (this.budget.fits(size)) this.reply(subject, message).catch(() => undefined);
      else respond(message, BUSY_REPLY);
    };
  }

  async stopReceiving(): Promise<void> {
    await Promise.all(this.activeSubscriptions.map((subscription) => subscription.drain()));
    await this.runner.allStarted();
  }

  get isFull(): boolean {
    return this.unsentBytes > MAX_UNSENT_BYTES;
  }

  async sent(): Promise<void> {
    const client = this.unwrap<NatsConnection>();
    const { outBytes } = client.stats();
    // It fails if the connection is lost, and with it all that was unsent.
    await client.flush().catch(() => undefined);
    this.confirmedBytes = Math.max(this.confirmedBytes, outBytes);
  }

  /** The number of bytes of replies that the broker may not have received. */
  private get unsentBytes(): number {
    const unsent = this.unwrap<NatsConnection>().stats().outBytes - this.confirmedBytes;
    if (unsent > FLUSH_ABOVE_BYTES) this.flushing ??= this.sent().finally(() => (this.flushing = undefined));
    return unsent;
  }

  private async openClient(options: object): Promise<NatsConnection> {
    const server = new ServerNats({ ...(await natsOptionsOf(this.url)), ...options });
    return (await server.createNatsClient()) as NatsConnection;
  }

  private async reply(subject: string, message: NatsMessage): Promise<void> {
    const { data } = message;
    const size = message.size();
    this.budget.reserve(size);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const headers = () => (size - data.length > MAX_HEADER_BYTES ? undefined : message.headers);
    const createContext = () => new NatsContext([subject, headers()]);
    const reply = await this.runner.run(bytes, createContext, subject);
    this.budget.release(size);
    respond(message, limitReply(reply, this.unsentBytes));
  }
}

function respond(message: NatsMessage, reply: Buffer): void {
  if (!message.reply) return;
  try {
    message.respond(reply);
  } catch {
    // The reply exceeds max_payload of the server: 1 MiB by default.
    message.respond(TOO_LARGE_REPLY);
  }
}
