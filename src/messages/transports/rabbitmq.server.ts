import { randomUUID } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import type { AmqpConnectionManager, ChannelWrapper } from 'amqp-connection-manager';
import type { Channel, ConsumeMessage } from 'amqplib';
import { type RmqContext, ServerRMQ } from '@nestjs/microservices';
import { filter, merge, Subject } from 'rxjs';
import { DomainError } from '../../../libs/errors/src/index.js';
import { brokerFailureOf, caOf } from '../broker-connection.js';
import {
  type BrokerServer,
  type BrokerState,
  connectionStatesOf,
  type MessageServerOptions,
  ANSWER_TOO_LARGE,
  inboxRule,
  messageRefusal,
} from './broker-server.js';

/** The delay before a queue that was refused or deleted is tried again. */
const QUEUE_RETRY_MS = 5_000;
/** The maximum number of messages in progress: two large batches. */
const MAX_IN_PROGRESS = 400;
/** The maximum number of messages that wait here. Others wait in the broker. */
const PREFETCH_MESSAGES = 32;
/** The default limit of RabbitMQ 4 for a message. It closes the channel at a larger one. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Receives messages from RabbitMQ, and never gives up on the queue. Replies to inboxes only, and
 * limits the size of messages. The guard of a message acknowledges it when there is room for it.
 */
export class RabbitServer extends ServerRMQ implements BrokerServer {
  readonly states: BrokerServer['states'];
  private readonly consumerTag = randomUUID();
  private readonly consumerStates = new Subject<BrokerState>();
  private readonly mayReplyTo: ReturnType<typeof inboxRule>;
  private readonly refusal: Buffer;
  private readonly waiting: (() => void)[] = [];
  private inProgress = 0;
  private flushing: Promise<unknown> | undefined;
  /** Messages whose acknowledgement the broker may not have. */
  private readonly lost = new WeakSet<object>();
  /** Undefined while the queue is not consumed. */
  private consumingChannel: Channel | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isStopping = false;
  private lastFailure = 'unknown';

  constructor(
    url: URL,
    private readonly messageOptions: MessageServerOptions,
  ) {
    const { queue, bodyLimit, logger } = messageOptions;
    // Nagle's algorithm would delay each acknowledgement, for which a message waits.
    const connectionOptions = {
      noDelay: true,
      // amqplib reads it for each connection, so that a replaced file applies.
      get ca() {
        return caOf(url);
      },
    };
    super({
      urls: [url.href],
      queue,
      queueOptions: { durable: true },
      noAck: false,
      socketOptions: { connectionOptions },
    });
    // The connection alone receives nothing.
    const disconnected = connectionStatesOf(this).pipe(filter((state) => state === 'disconnected'));
    this.states = merge(disconnected, this.consumerStates);
    this.refusal = messageRefusal(bodyLimit);
    this.mayReplyTo = inboxRule(['amq.rabbitmq.reply-to.', 'amq.gen-'], logger);
    for (const event of ['connectFailed', 'disconnect'])
      (this as Emitting).on(event, ({ err }) => (this.lastFailure = brokerFailureOf(err)));
    const start = (_transport: unknown, context: unknown, handle: () => Promise<unknown>) =>
      this.whenThereIsRoom(((context as RmqContext).getChannelRef() as MessageChannel).channel, handle);
    // Its type lacks the promise, but Nest waits for it.
    this.setOnProcessingStartHook(start as (...args: unknown[]) => void);
    this.setOnProcessingEndHook(() => this.startNext());
    // Nest has created the channel wrapper just before, at the first connection.
    this.on('connect', () => this.handleErrors(this.channel as ChannelWrapper));
  }

  /**
   * Sets up a channel after each connection. With Nest's method the process would end if the queue
   * is refused.
   */
  override async setupChannel(channel: Channel, callback: () => void): Promise<void> {
    // The channel is still needed for replies.
    if (this.isStopping) return;
    channel.on('error', () => undefined);
    channel.on('close', () => this.reopenLater(channel));
    this.consumingChannel = channel;
    try {
      await channel.assertQueue(this.queue, this.queueOptions as object);
      await channel.prefetch(PREFETCH_MESSAGES);
      // It fails if the channel has been closed.
      const handle = (message: ConsumeMessage | null) =>
        void this.handleMessage(message, channel).catch(() => undefined);
      await channel.consume(this.queue, handle, { noAck: this.noAck, consumerTag: this.consumerTag });
      callback();
      this.consumerStates.next('connected');
    } catch {
      this.consumerStates.next('queue refused');
    }
  }

  override async handleMessage(delivery: object | null, channel: Channel): Promise<void> {
    const message = delivery as ConsumeMessage | null;
    // The broker has cancelled the consumer: the queue was deleted. Replies still use the channel.
    if (message === null) {
      this.consumerStates.next('queue deleted');
      this.reopenLater(channel);
      return;
    }
    const { replyTo, correlationId } = message.properties as ReplyProperties;
    const isTooLarge = message.content.length > this.messageOptions.bodyLimit;
    const mayReply = this.mayReplyTo(replyTo);
    if (mayReply && !isTooLarge)
      return super.handleMessage(message, { channel, ack: () => this.acknowledge(message, channel) });
    channel.ack(message);
    if (mayReply) this.sendReply(this.refusal, replyTo, correlationId);
  }

  /** Sends an answer. With Nest's method the process would end if the broker does not accept it. */
  override sendMessage(
    answer: unknown,
    replyTo: string | undefined,
    correlationId: string | undefined,
    context: RmqContext,
  ): void {
    if (this.lost.has(context.getMessage())) return;
    const bytes = Buffer.from(JSON.stringify(answer));
    this.sendReply(bytes.length > MAX_ANSWER_BYTES ? ANSWER_TOO_LARGE : bytes, replyTo, correlationId);
  }

  async findOutageReason(): Promise<string> {
    return this.lastFailure;
  }

  /** Receives no more messages, and returns those that have not started to the broker. */
  async stopReceiving(): Promise<void> {
    this.isStopping = true;
    await this.consumingChannel?.cancel(this.consumerTag);
    this.consumingChannel?.nackAll(true);
  }

  private sendReply(answer: Buffer, replyTo: string | undefined, correlationId: string | undefined): void {
    if (!replyTo) return;
    const options = { ...(correlationId !== undefined && { correlationId }) };
    const sendOnce = () => (this.channel as ChannelWrapper).sendToQueue(replyTo, answer, options);
    // Sent again if its channel was closed. If that fails too, the sender repeats its message.
    sendOnce()
      .catch(sendOnce)
      .catch(() => undefined);
  }

  /** Handles a message of a channel when there is room for it, unless the broker takes it back. */
  private async whenThereIsRoom(channel: Channel, handle: () => Promise<unknown>): Promise<unknown> {
    if (this.inProgress >= MAX_IN_PROGRESS)
      await new Promise<void>((resolve) => void this.waiting.push(resolve));
    if (this.isStopping || channel !== this.consumingChannel) return this.waiting.shift()?.();
    this.inProgress++;
    return handle();
  }

  /**
   * Resolves when the broker has the acknowledgement: until then it may deliver the message again.
   * Rejects if that is not known. The message is then not processed and not answered here.
   */
  private async acknowledge(message: ConsumeMessage, channel: Channel): Promise<void> {
    try {
      channel.ack(message);
      // Acknowledgements of one moment share a request, which the broker answers after them.
      await (this.flushing ??= immediate().then(() => {
        this.flushing = undefined;
        return channel.prefetch(PREFETCH_MESSAGES);
      }));
    } catch {
      this.lost.add(message);
      throw new DomainError('SERVICE_UNAVAILABLE');
    }
  }

  private startNext(): void {
    this.inProgress--;
    this.waiting.shift()?.();
  }

  /** Handles a channel that cannot be opened: without a listener it would end the process. */
  private handleErrors(channels: ChannelWrapper): void {
    if (channels.listenerCount('error') === 0) channels.on('error', () => this.reopenLater());
  }

  /** Opens a new channel if only the channel was closed. The wrapper handles lost connections. */
  private reopenLater(closed?: Channel): void {
    if (closed === this.consumingChannel) this.consumingChannel = undefined;
    const manager = this.unwrap<AmqpConnectionManager>();
    const { connection } = manager;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      if (this.isStopping || this.consumingChannel || !connection || manager.connection !== connection)
        return;
      const old = this.channel as ChannelWrapper;
      const setup = (channel: Channel) => this.setupChannel(channel, () => undefined);
      this.channel = manager.createChannel({ json: false, setup });
      this.handleErrors(this.channel as ChannelWrapper);
      // It may be closed already.
      old.close().catch(() => undefined);
    }, QUEUE_RETRY_MS).unref();
  }
}

/** The channel that the guard of a message gets. */
interface MessageChannel {
  readonly channel: Channel;
  readonly ack: () => Promise<void>;
}

/** The properties of a message that its reply needs. amqplib has `any` for them. */
interface ReplyProperties {
  readonly replyTo: string | undefined;
  readonly correlationId: string | undefined;
}

/** The events of the connection that Nest's types lack, or type without arguments. */
interface Emitting {
  on(event: string, listener: (event: { readonly err?: Error }) => void): void;
}
