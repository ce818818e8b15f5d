import { randomUUID } from 'node:crypto';
import { RmqContext, ServerRMQ } from '@nestjs/microservices';
import { filter, map, merge, type Observable, Subject } from 'rxjs';
import { LARGEST_MESSAGE, Places } from '../../libs/message-edge/src/index.js';
import { messageTooLarge } from '../../libs/strict-request/src/index.js';
import { Answers } from './answers.js';
import {
  type AcknowledgingChannel,
  Backlog,
  isRedeliveredTooOften,
  PREFETCH,
  type RabbitMessage,
} from './backlog.js';
import {
  boundedAnswer,
  type BrokerServer,
  BUSY,
  bytesOf,
  type DoorLimits,
  packetOf,
  QUEUE,
  type Reach,
  SILENT,
  tooLarge,
} from './door.server.js';
import { type FrameTaker, letGoLongContent, wasLong } from './long-content.js';

/** Milliseconds after which a queue that was refused, or taken away, is tried again. */
const RETRY = 5_000;
/** The most messages that are under way: as many as two of the largest batches of creates. */
const MOST_UNDER_WAY = 400;
/** Bytes. RabbitMQ 4 closes the channel at a larger message, unless it is told otherwise. */
const LARGEST_ANSWER = 16 * 1024 * 1024;

/** Messages by way of RabbitMQ. Broker and queue are waited for at the start and later, for ever. */
export class RabbitServer extends ServerRMQ implements BrokerServer {
  readonly reach: Observable<Reach>;
  protected override readonly logger = SILENT as never;
  private readonly consumer: string;
  private readonly consuming = new Subject<Reach>();
  private readonly answers: Answers;
  private readonly places: Places;
  private taking: Channel | undefined;
  private backlog: Backlog | undefined;
  private isStopping = false;
  /** Answers that the broker has not confirmed. */
  private readonly unsent = new Set<Promise<unknown>>();
  private unsentBytes = 0;
  private lastFailure = 'unknown';

  constructor(
    { href }: URL,
    private readonly limits: DoorLimits,
  ) {
    const consumerTag = randomUUID();
    // Nagle's algorithm would hold back each acknowledgement, for which a message waits.
    const socketOptions = { connectionOptions: { noDelay: true } };
    super({ urls: [href], queue: QUEUE, consumerTag, prefetchCount: PREFETCH, socketOptions });
    this.consumer = consumerTag;
    for (const event of ['connectFailed', 'disconnect'])
      (this as Failing).on(event, ({ err }) => (this.lastFailure = err?.message ?? 'unknown'));
    this.answers = new Answers(this, limits.bodyLimit);
    this.places = new Places(Math.min(MOST_UNDER_WAY, limits.writeQueue));
    const away = (this.status as Observable<string>).pipe(
      filter((status) => status === 'disconnected'),
      map(() => 'away' as const),
    );
    this.reach = merge(away, this.consuming);
  }

  /** Without a listener, a channel that cannot be opened would end the process. */
  override async createClient<T = Connection>(): Promise<T> {
    const connection = await super.createClient<Connection>();
    const create = connection.createChannel.bind(connection);
    connection.createChannel = (options) => {
      const channels = create(options);
      channels.on('error', () => this.tryAgain(this.taking));
      return channels;
    };
    return connection as T;
  }

  /** Called with a new channel after each connection. Nest would end the process, or be silent, where it is refused. */
  override async setupChannel(channel: Channel, callback: () => void): Promise<void> {
    // What was under way is still answered over this channel.
    if (this.isStopping) return;
    channel.on('error', () => undefined);
    channel.on('close', () => this.tryAgain(channel));
    const consume = channel.consume.bind(channel);
    const consumed = new Promise<void>((resolve, reject) => {
      channel.consume = (queue, take, options) =>
        consume(queue, take, { ...options, noAck: false }).then(() => resolve(), reject);
    });
    letGoLongContent(channel, LARGEST_MESSAGE);
    this.taking = channel;
    this.backlog = new Backlog(channel, this.places, (message) => void this.answer(message, channel));
    try {
      await super.setupChannel(channel, callback);
      await consumed;
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
    const refusal = this.refusalOf(message);
    if (!refusal) return this.backlog?.add(message);
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
      await this.backlog?.giveBack();
    } catch {
      // The channel is closed: all that has not begun has gone back.
    }
    await this.answers.begun();
  }

  sent(): Promise<unknown> {
    return Promise.all(this.unsent);
  }

  /** The answer to a message that is not looked into. */
  private refusalOf(message: RabbitMessage): Buffer | undefined {
    if (wasLong(message.properties)) return bytesOf(packetOf(messageTooLarge(this.limits.bodyLimit)));
    return isRedeliveredTooOften(message) ? BUSY : undefined;
  }

  private async answer(message: RabbitMessage, channel: Channel): Promise<void> {
    const contextOf = (pattern: string) => new RmqContext([message, channel, pattern]);
    const answer = await this.answers.answer(message.content, contextOf);
    this.places.free(message.content.length);
    await this.reply(message, answer);
  }

  /** Resolves when the broker has the answer, or it is lost. Till then it takes places, so that answers are bounded. */
  private async reply({ properties }: RabbitMessage, answer: Buffer): Promise<void> {
    const { replyTo, correlationId } = properties;
    if (typeof replyTo === 'string') {
      const isTooLarge = answer.length > LARGEST_ANSWER;
      const bytes = isTooLarge ? bytesOf(tooLarge()) : boundedAnswer(answer, this.unsentBytes);
      this.places.take(bytes.length);
      this.unsentBytes += bytes.length;
      const sent = this.sendAnswer(replyTo, bytes, correlationId);
      this.unsent.add(sent);
      await sent;
      this.unsent.delete(sent);
      this.unsentBytes -= bytes.length;
      this.places.free(bytes.length);
    }
    await this.backlog?.goOn();
  }

  /** Resolves when the broker has an answer, or it is lost. What its channel has lost goes over the next one, once. */
  private async sendAnswer(queue: string, answer: Buffer, correlationId: string | undefined): Promise<void> {
    const used = this.channel as Channels;
    const sendOver = (channels: Channels) => channels.sendToQueue(queue, answer, { correlationId });
    try {
      await sendOver(used).catch(() => this.channel === used || sendOver(this.channel as Channels));
    } catch {
      // It is lost: the caller repeats the message.
    }
  }

  /** Where only the channel was closed, and not the connection, nobody else opens another one. */
  private tryAgain(closed: Channel | undefined): void {
    setTimeout(() => {
      const connection = this.unwrap<Connection>();
      if (this.isStopping || this.taking !== closed || !connection.isConnected()) return;
      const setup = (channel: Channel) => this.setupChannel(channel, () => undefined);
      const old = this.channel as Channels;
      this.channel = connection.createChannel({ json: false, setup });
      void old.close();
    }, RETRY).unref();
  }
}

/** Nest's types know neither every event of the connection, nor its errors. */
interface Failing {
  on(event: string, listener: (failure: { readonly err?: Error }) => void): void;
}

/** What is used of a channel of amqplib. */
interface Channel extends AcknowledgingChannel, FrameTaker {
  on(event: 'error' | 'close', listener: () => void): unknown;
  consume(queue: unknown, take: unknown, options: object): Promise<unknown>;
  cancel(consumerTag: string): Promise<unknown>;
}

/** What is used of amqp-connection-manager. */
interface Connection {
  isConnected(): boolean;
  createChannel(options: { readonly json: boolean; readonly setup: unknown }): Channels;
}

/** The channels, one after the other, that replace one another where a connection is lost. */
interface Channels {
  on(event: 'error', listener: () => void): unknown;
  sendToQueue(queue: string, bytes: Buffer, options: object): Promise<unknown>;
  close(): Promise<void>;
}
