import { randomUUID } from 'node:crypto';
import type { AmqpConnectionManager, ChannelWrapper } from 'amqp-connection-manager';
import type { Channel } from 'amqplib';
import { RmqContext, ServerRMQ } from '@nestjs/microservices';
import { filter, merge, type Observable, Subject } from 'rxjs';
import { brokerFailureOf, caOf } from '../broker-tls.js';
import { MAX_MESSAGE_BYTES } from '../packet.js';
import { dropHostileParts, faultOf, type FrameSource } from './hostile-frames.js';
import { MessageBudget } from './message-budget.js';
import { MessageRunner } from './message-runner.js';
import {
  type BrokerServer,
  type BrokerState,
  type MessageServerOptions,
  replyRule,
  SILENT_LOGGER,
} from './message-server.js';
import {
  isRedeliveredTooOften,
  PendingMessages,
  PREFETCH_MESSAGES,
  type RabbitMessage,
} from './pending-messages.js';
import { RabbitReplies } from './rabbitmq-replies.js';
import { BUSY_REPLY } from './reply-packet.js';

/** The delay before a queue that was refused or deleted is tried again. */
const QUEUE_RETRY_MS = 5_000;
/** The maximum number of messages in flight: two large batches. Others wait in the broker. */
const MAX_IN_FLIGHT = 400;

/** Receives messages from RabbitMQ, and never gives up on the connection and the queue. */
export class RabbitServer extends ServerRMQ implements BrokerServer {
  readonly brokerState: Observable<BrokerState>;
  protected override readonly logger = SILENT_LOGGER as never;
  private readonly consumerTag = randomUUID();
  private readonly consumerState = new Subject<BrokerState>();
  private readonly runner: MessageRunner;
  private readonly budget: MessageBudget;
  private readonly replies: RabbitReplies;
  private readonly mayReplyTo: ReturnType<typeof replyRule>;
  private consumingChannel: Channel | undefined;
  private pending: PendingMessages | undefined;
  private isStopping = false;
  private lastFailure = 'unknown';

  constructor(
    url: URL,
    private readonly messageOptions: MessageServerOptions,
  ) {
    const { queue, bodyLimit, maxInFlight } = messageOptions;
    // Nagle's algorithm would delay each acknowledgement, for which a message waits.
    const connectionOptions = {
      noDelay: true,
      // amqplib reads it for each connection, so that a replaced file applies.
      get ca() {
        return caOf(url);
      },
    };
    super({ urls: [url.href], queue, socketOptions: { connectionOptions } });
    for (const event of ['connectFailed', 'disconnect'])
      (this as Emitting).on(event, ({ err }) => (this.lastFailure = brokerFailureOf(err)));
    // Nest has created the channel wrapper just before, at the first connection.
    (this as Emitting).on('connect', ({ connection }) => {
      dropHostileParts(connection!.connection, MAX_MESSAGE_BYTES);
      this.handleErrors(this.channel as ChannelWrapper);
    });
    this.mayReplyTo = replyRule('amq.rabbitmq.reply-to.', messageOptions);
    this.runner = new MessageRunner(this, this.handleRequest.bind(this), bodyLimit);
    this.budget = new MessageBudget(Math.min(MAX_IN_FLIGHT, maxInFlight));
    this.replies = new RabbitReplies(() => this.channel as ChannelWrapper, this.budget);
    const disconnected = (this.status as Observable<string>).pipe(
      filter((status) => status === 'disconnected'),
    );
    this.brokerState = merge(disconnected, this.consumerState);
  }

  /**
   * Sets up a new channel after each connection. Nest would end the process, or log nothing, if it
   * is refused.
   */
  override async setupChannel(channel: Channel, callback: () => void): Promise<void> {
    // The channel is still needed for replies.
    if (this.isStopping) return;
    channel.on('error', () => undefined);
    channel.on('close', () => this.reopenLater(channel));
    this.consumingChannel = channel;
    this.pending = new PendingMessages(channel, this.budget, (message) => void this.handle(message, channel));
    try {
      await channel.assertQueue(this.queue);
      await channel.prefetch(PREFETCH_MESSAGES);
      // It fails if the channel has been closed.
      const onMessage = (message: RabbitMessage | null) =>
        void this.handleMessage(message, channel).catch(() => undefined);
      await channel.consume(this.queue, onMessage, { noAck: false, consumerTag: this.consumerTag });
      callback();
      this.consumerState.next('connected');
    } catch {
      this.consumerState.next('queue refused');
    }
  }

  override async handleMessage(delivery: object | null, channel: Channel): Promise<void> {
    const message = delivery as RabbitMessage | null;
    // A channel that is replaced returns to the broker what it still gets.
    if (channel !== this.consumingChannel) return;
    // The broker has cancelled the consumer: the queue was deleted. Replies still use the channel.
    if (message === null) {
      this.reopenLater(channel);
      return;
    }
    if (!this.accepts(message)) {
      channel.ack(message);
      return;
    }
    const refusal = this.refusalOf(message);
    if (!refusal) return this.pending?.add(message);
    channel.ack(message);
    await this.reply(message, refusal);
  }

  async findOutageReason(): Promise<string> {
    return this.lastFailure;
  }

  /** Returns the messages that have not started to the broker. */
  async stopReceiving(): Promise<void> {
    this.isStopping = true;
    try {
      await this.consumingChannel?.cancel(this.consumerTag);
      await this.pending?.requeueAll();
    } catch {
      // The channel is closed: the broker has requeued all that has not started.
    }
    await this.runner.allStarted();
  }

  sent(): Promise<unknown> {
    return this.replies.sent();
  }

  /** Returns whether a message is readable and its reply address is allowed. */
  private accepts({ properties }: RabbitMessage): boolean {
    if (faultOf(properties) !== 'unreadable') return this.mayReplyTo(properties.replyTo);
    this.messageOptions.logger.error('messages: a message was thrown away: the headers cannot be read');
    return false;
  }

  /** Returns the reply to a message that is refused without parsing it. */
  private refusalOf(message: RabbitMessage): Buffer | undefined {
    if (faultOf(message.properties) === 'oversized') return this.runner.tooLargeReply;
    return isRedeliveredTooOften(message) ? BUSY_REPLY : undefined;
  }

  private async handle(message: RabbitMessage, channel: Channel): Promise<void> {
    const createContext = (pattern: string) => new RmqContext([message, channel, pattern]);
    const reply = await this.runner.run(message.content, createContext);
    this.budget.release(message.content.length);
    await this.reply(message, reply);
  }

  private async reply(message: RabbitMessage, reply: Buffer): Promise<void> {
    await this.replies.send(message, reply);
    await this.pending?.startNext();
  }

  /** Handles a channel that cannot be opened: without a listener it would end the process. */
  private handleErrors(channels: ChannelWrapper): void {
    if (channels.listenerCount('error') === 0)
      channels.on('error', () => this.reopenLater(this.consumingChannel));
  }

  /** Opens a new channel if only the channel was closed. The wrapper handles lost connections. */
  private reopenLater(closed: Channel | undefined): void {
    setTimeout(() => {
      const connection = this.unwrap<AmqpConnectionManager>();
      if (this.isStopping || this.consumingChannel !== closed || !connection.isConnected()) return;
      const setup = (channel: Channel) => this.setupChannel(channel, () => undefined);
      const old = this.channel as ChannelWrapper;
      const requeued = this.pending?.requeueAll();
      this.channel = connection.createChannel({ json: false, setup });
      this.handleErrors(this.channel as ChannelWrapper);
      // A message that is acknowledged and has not started would be lost.
      void Promise.resolve(requeued)
        .catch(() => undefined)
        .then(() => old.close());
    }, QUEUE_RETRY_MS).unref();
  }
}

/** The events of the connection that Nest's types lack, or type without arguments. */
interface Emitting {
  on(event: string, listener: (event: ConnectionEvent) => void): void;
}

interface ConnectionEvent {
  readonly err?: Error;
  readonly connection?: { readonly connection: FrameSource };
}
