import { randomUUID } from 'node:crypto';
import { type BaseRpcContext, RmqContext, ServerRMQ } from '@nestjs/microservices';
import { filter, map, merge, type Observable, Subject } from 'rxjs';
import { messageTooLarge } from '../../../strict-request/src/index.js';
import { LARGEST_MESSAGE } from '../packet.js';
import { BUSY, bytesOf, packetOf } from './answer-packet.js';
import { type FrameTaker, letGoLongContent, wasLong } from './long-content.js';
import { MessageBudget } from './message-budget.js';
import { MessageRunner } from './message-runner.js';
import {
  type BrokerServer,
  type MessageServerOptions,
  oncePerMinute,
  type Reach,
  replyRule,
  SILENT,
} from './message-server.js';
import { type Channels, RabbitReplies } from './rabbitmq-replies.js';
import { bringUnreadable, type FrameSource, isUnreadable } from './unreadable-message.js';
import {
  type AcknowledgingChannel,
  isRedeliveredTooOften,
  PREFETCH,
  type RabbitMessage,
  UnbegunMessages,
} from './unbegun-messages.js';

/** Milliseconds after which a queue that was refused, or taken away, is tried again. */
const RETRY = 5_000;
/** The most messages that are under way: enough for two large batches. All others wait in the broker. */
const MOST_UNDER_WAY = 400;

/** Messages by way of RabbitMQ. Broker and queue are waited for at the start and later, for ever. */
export class RabbitServer extends ServerRMQ implements BrokerServer {
  readonly reach: Observable<Reach>;
  protected override readonly logger = SILENT as never;
  private readonly consumer = randomUUID();
  private readonly consuming = new Subject<Reach>();
  private readonly runner: MessageRunner;
  private readonly budget: MessageBudget;
  private readonly replies: RabbitReplies;
  private readonly tooLarge: Buffer;
  private readonly mayReplyTo: ReturnType<typeof replyRule>;
  private readonly logUnreadable: () => void;
  private taking: Channel | undefined;
  private unbegun: UnbegunMessages | undefined;
  private isStopping = false;
  private lastFailure = 'unknown';

  constructor({ href }: URL, options: MessageServerOptions) {
    const { queue, bodyLimit, mostUnderWay } = options;
    // Nagle's algorithm would hold back each acknowledgement, for which a message waits.
    const socketOptions = { connectionOptions: { noDelay: true } };
    super({ urls: [href], queue, socketOptions });
    for (const event of ['connectFailed', 'disconnect'])
      (this as Emitting).on(event, ({ err }) => (this.lastFailure = err?.message ?? 'unknown'));
    // Nest has made the channels just before, at the first connection.
    (this as Emitting).on('connect', ({ connection }) => {
      bringUnreadable(connection!.connection);
      this.watch(this.channel as Channels);
    });
    this.logUnreadable = oncePerMinute((count) =>
      options.logger.error(
        `messages: ${count === 1 ? 'a message was' : `${count} messages were`} thrown away: the headers cannot be read`,
      ),
    );
    this.mayReplyTo = replyRule('amq.rabbitmq.reply-to.', options);
    this.tooLarge = bytesOf(packetOf(messageTooLarge(bodyLimit)));
    // Nest has none of its own.
    this.setOnProcessingEndHook(() => undefined);
    const nest = {
      handlers: this.messageHandlers,
      begin: (context: BaseRpcContext, handle: () => Promise<void>) =>
        this.onProcessingStartHook(this.transportId, context, handle),
      end: (context: BaseRpcContext) => this.onProcessingEndHook(this.transportId, context),
    };
    this.runner = new MessageRunner(nest, bodyLimit);
    this.budget = new MessageBudget(Math.min(MOST_UNDER_WAY, mostUnderWay));
    this.replies = new RabbitReplies(() => this.channel as Channels, this.budget);
    const away = (this.status as Observable<string>).pipe(
      filter((status) => status === 'disconnected'),
      map(() => 'away' as const),
    );
    this.reach = merge(away, this.consuming);
  }

  /** Called with a new channel after each connection. Nest would end the process, or be silent, if it is refused. */
  override async setupChannel(channel: Channel, callback: () => void): Promise<void> {
    // What was under way is still answered over this channel.
    if (this.isStopping) return;
    channel.on('error', () => undefined);
    channel.on('close', () => this.tryAgain(channel));
    letGoLongContent(channel, LARGEST_MESSAGE);
    this.taking = channel;
    this.unbegun = new UnbegunMessages(channel, this.budget, (message) => void this.answer(message, channel));
    try {
      await channel.assertQueue(this.queue);
      await channel.prefetch(PREFETCH);
      // It fails if the channel is closed meanwhile.
      const take = (message: RabbitMessage | null) =>
        void this.handleMessage(message, channel).catch(() => undefined);
      await channel.consume(this.queue, take, { noAck: false, consumerTag: this.consumer });
      callback();
      this.consuming.next('connected');
    } catch {
      this.consuming.next('queue refused');
    }
  }

  override async handleMessage(given: object | null, channel: Channel): Promise<void> {
    const message = given as RabbitMessage | null;
    // The broker has ended the consumer: the queue is gone. The channel still carries answers.
    if (message === null) {
      this.tryAgain(this.taking);
      return;
    }
    if (!this.accepts(message)) {
      channel.ack(message);
      return;
    }
    const refusal = this.refusalOf(message);
    if (!refusal) return this.unbegun?.add(message);
    channel.ack(message);
    await this.reply(message, refusal);
  }

  async whyAway(): Promise<string> {
    return this.lastFailure;
  }

  /** What has not begun goes back. */
  async stopTaking(): Promise<void> {
    this.isStopping = true;
    try {
      await this.taking?.cancel(this.consumer);
      await this.unbegun?.giveBack();
    } catch {
      // The channel is closed: all that has not begun has gone back.
    }
    await this.runner.begun();
  }

  sent(): Promise<unknown> {
    return this.replies.sent();
  }

  /** Whether a message can be read, and may be answered at its address. */
  private accepts({ properties }: RabbitMessage): boolean {
    if (!isUnreadable(properties)) return this.mayReplyTo(properties.replyTo);
    this.logUnreadable();
    return false;
  }

  /** The answer to a message that is not looked into. */
  private refusalOf(message: RabbitMessage): Buffer | undefined {
    if (wasLong(message.properties)) return this.tooLarge;
    return isRedeliveredTooOften(message) ? BUSY : undefined;
  }

  private async answer(message: RabbitMessage, channel: Channel): Promise<void> {
    const contextOf = (pattern: string) => new RmqContext([message, channel, pattern]);
    const answer = await this.runner.run(message.content, contextOf);
    this.budget.free(message.content.length);
    await this.reply(message, answer);
  }

  private async reply(message: RabbitMessage, answer: Buffer): Promise<void> {
    await this.replies.send(message, answer);
    await this.unbegun?.goOn();
  }

  /** Without a listener, a channel that cannot be opened would end the process. */
  private watch(channels: Channels): void {
    if (channels.listenerCount('error') === 0) channels.on('error', () => this.tryAgain(this.taking));
  }

  /** Where only the channel was closed, and not the connection, nobody else opens another one. */
  private tryAgain(closed: Channel | undefined): void {
    setTimeout(() => {
      const connection = this.unwrap<Connection>();
      if (this.isStopping || this.taking !== closed || !connection.isConnected()) return;
      const setup = (channel: Channel) => this.setupChannel(channel, () => undefined);
      const old = this.channel as Channels;
      this.channel = connection.createChannel({ json: false, setup });
      this.watch(this.channel as Channels);
      void old.close();
    }, RETRY).unref();
  }
}

/** Nest's types lack some events of the connection, and the arguments of all. */
interface Emitting {
  on(event: string, listener: (about: ConnectionEvent) => void): void;
}

interface ConnectionEvent {
  readonly err?: Error;
  readonly connection?: { readonly connection: FrameSource };
}

/** What is used of a channel of amqplib. */
interface Channel extends AcknowledgingChannel, FrameTaker {
  on(event: 'error' | 'close', listener: () => void): unknown;
  assertQueue(queue: string): Promise<unknown>;
  consume(queue: string, take: (message: RabbitMessage | null) => void, options: object): Promise<unknown>;
  cancel(consumerTag: string): Promise<unknown>;
}

/** What is used of amqp-connection-manager. */
interface Connection {
  isConnected(): boolean;
  createChannel(options: { readonly json: boolean; readonly setup: unknown }): Channels;
}
