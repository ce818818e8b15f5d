import { randomUUID } from 'node:crypto';
import { ServerRMQ } from '@nestjs/microservices';
import { filter, map, merge, type Observable, Subject } from 'rxjs';
import {
  type BrokerServer,
  faultOf,
  MOST_UNSENT,
  QUEUE,
  type Reach,
  SERIALIZER,
  SILENT,
} from './door.server.js';

/** Milliseconds after which a queue that was refused, or taken away, is tried again. */
const RETRY = 5_000;

/** Messages by way of RabbitMQ. Broker and queue are waited for at the start and later, for ever. */
export class RabbitServer extends ServerRMQ implements BrokerServer {
  readonly reach: Observable<Reach>;
  protected override readonly logger = SILENT as never;
  private readonly consumer: string;
  private readonly consuming = new Subject<Reach>();
  private taking: Channel | undefined;
  private isStopping = false;
  /** Answers that the broker has not confirmed. */
  private readonly unsent = new Set<Promise<void>>();
  private unsentBytes = 0;
  private lastFailure = 'unknown';

  constructor({ href }: URL) {
    const consumerTag = randomUUID();
    super({ urls: [href], queue: QUEUE, consumerTag, serializer: SERIALIZER });
    this.consumer = consumerTag;
    for (const event of ['connectFailed', 'disconnect'])
      (this as Failing).on(event, ({ err }) => (this.lastFailure = err?.message ?? 'unknown'));
    const away = (this.status as Observable<string>).pipe(
      filter((status) => status === 'disconnected'),
      map(() => 'away' as const),
    );
    this.reach = merge(away, this.consuming);
  }

  /** Called with a new channel after each connection. Nest would end the process, or be silent, where it is refused. */
  override async setupChannel(channel: Channel, callback: () => void): Promise<void> {
    channel.on('error', () => undefined);
    channel.on('close', () => this.tryAgain(channel));
    const consume = channel.consume.bind(channel);
    const consumed = new Promise<void>((resolve, reject) => {
      channel.consume = (...args) => consume(...args).then(() => resolve(), reject);
    });
    this.taking = channel;
    try {
      await super.setupChannel(channel, callback);
      await consumed;
      this.consuming.next('connected');
    } catch {
      this.consuming.next('queue refused');
    }
  }

  override async handleMessage(...args: Parameters<ServerRMQ['handleMessage']>): Promise<void> {
    const message = args[0] as unknown as RabbitMessage | null;
    // The broker has ended the consumer: the queue is gone.
    if (message === null) return this.taking?.close();
    const fault = faultOf(message.content);
    if (!fault) return super.handleMessage(...args);
    const { replyTo, correlationId = '' } = message.properties;
    this.sendMessage(fault, replyTo, correlationId);
  }

  async whyAway(): Promise<string> {
    return this.lastFailure;
  }

  async stopTaking(): Promise<void> {
    this.isStopping = true;
    await this.taking?.cancel(this.consumer);
  }

  get isFull(): boolean {
    return this.unsentBytes > MOST_UNSENT;
  }

  sent(): Promise<unknown> {
    return Promise.all(this.unsent);
  }

  /**
   * Nest lets errors of this end the process: of a message without an address for its answer, or of a lost
   * connection.
   */
  override sendMessage(message: unknown, replyTo: unknown, correlationId: string): void {
    if (typeof replyTo !== 'string') return;
    const bytes = Buffer.from(JSON.stringify(this.serializer.serialize(message as never)));
    const sent = this.channels
      .sendToQueue(replyTo, bytes, { correlationId })
      .catch(() => undefined)
      .then(() => {
        this.unsent.delete(sent);
        this.unsentBytes -= bytes.length;
      });
    this.unsent.add(sent);
    this.unsentBytes += bytes.length;
  }

  /** Where only the channel was closed, and not the connection, nobody else opens another one. */
  private tryAgain(closed: Channel): void {
    setTimeout(() => {
      const connection = this.unwrap<Connection>();
      if (this.isStopping || this.taking !== closed || !connection.isConnected()) return;
      const setup = (channel: Channel) => this.setupChannel(channel, () => undefined);
      const old = this.channels;
      this.channel = connection.createChannel({ json: false, setup });
      void old.close();
    }, RETRY).unref();
  }

  /** Nest's types tell nothing about it. */
  private get channels(): Channels {
    return this.channel as Channels;
  }
}

/** Nest's types know neither every event of the connection, nor its errors. */
interface Failing {
  on(event: string, listener: (failure: { readonly err?: Error }) => void): void;
}

/** What is used of a channel of amqplib. */
interface Channel {
  on(event: 'error' | 'close', listener: () => void): unknown;
  consume(...args: unknown[]): Promise<unknown>;
  cancel(consumerTag: string): Promise<unknown>;
  close(): Promise<void>;
}

/** What is used of amqp-connection-manager. */
interface Connection {
  isConnected(): boolean;
  createChannel(options: { readonly json: boolean; readonly setup: unknown }): Channels;
}

/** The channels, one after the other, that replace one another where a connection is lost. */
interface Channels {
  sendToQueue(queue: string, bytes: Buffer, options: object): Promise<unknown>;
  close(): Promise<void>;
}

interface RabbitMessage {
  readonly content: Buffer;
  readonly properties: { readonly replyTo?: string; readonly correlationId?: string };
}
