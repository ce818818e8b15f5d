import { setTimeout as delay } from 'node:timers/promises';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { brokerFailureOf, brokerName, caOf } from '../../../messages/src/index.js';
import type { CloudEvent } from '../../../../src/feed/index.js';
import { EventSink } from '../event-sink.js';
import { CONTENT_TYPE, EVENTS_NAME, NO_LONGER_NEEDED } from './topology.js';

/** The timeout of a connection, and of a confirmation. */
const TIMEOUT_MS = 5_000;
/** The timeout of the closing handshake. */
const CLOSE_TIMEOUT_MS = 1_000;
/** The interval of heartbeats. A connection ends after two that are missed. */
const HEARTBEAT_SECONDS = 5;
/** The error of an event that no queue receives. RabbitMQ returns it before its confirmation. */
const unroutable = (key: string) => `no queue is bound to the exchange ${EVENTS_NAME} for ${key}: bind one`;

/** Settles the publication of an event, with an error unless a queue has stored it. */
type Settle = (error?: string) => void;

/** Publishes to a durable topic exchange of RabbitMQ. A queue must store each event. */
export class RabbitMqSink extends EventSink {
  readonly name: string;
  /** Counts calls of `connect` and `close`: only the last one takes effect. */
  private lastCall = 0;
  private connection: ChannelModel | undefined;
  /** Destroys the socket of the connection. */
  private socketController = new AbortController();
  private channel: ConfirmChannel | undefined;
  /** The publications in flight, by the id of the event. */
  private readonly publications = new Map<string, Settle>();

  constructor(private readonly url: URL) {
    super();
    this.name = brokerName(url);
  }

  override async connect(): Promise<void> {
    const call = ++this.lastCall;
    this.closeNow();
    try {
      await this.open(call);
    } catch (error) {
      throw new Error(`RabbitMQ is out of reach or refuses (${brokerFailureOf(error)})`, { cause: error });
    }
  }

  override async publish(event: CloudEvent): Promise<void> {
    const { id } = event;
    let timer: NodeJS.Timeout | undefined;
    const reason = await new Promise<string | undefined>((settle) => {
      this.publications.set(id, settle);
      timer = setTimeout(() => settle(`RabbitMQ gave no confirmation within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
      const options = { messageId: id, contentType: CONTENT_TYPE, persistent: true, mandatory: true };
      this.channel!.publish(
        EVENTS_NAME,
        event.type,
        Buffer.from(JSON.stringify(event)),
        options,
        (error: unknown) =>
          settle(error ? `RabbitMQ did not store it (${(error as Error).message})` : undefined),
      );
    }).finally(() => {
      clearTimeout(timer);
      this.publications.delete(id);
    });
    if (reason !== undefined) throw new Error(reason);
  }

  override async close(): Promise<void> {
    this.lastCall++;
    // A broker that does not answer must not delay the shutdown.
    await Promise.race([
      this.connection?.close().catch(() => undefined),
      delay(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    this.closeNow();
  }

  private async open(call: number): Promise<void> {
    const url = new URL(this.url);
    if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
    const socketController = new AbortController();
    // amqplib passes the signal on to the socket.
    const options = {
      ca: caOf(url),
      timeout: TIMEOUT_MS,
      clientProperties: { connection_name: EVENTS_NAME },
      signal: socketController.signal,
    };
    const connection = await connect(url.href, options);
    // Publications in flight receive the error, too.
    connection.on('error', () => undefined);
    if (call !== this.lastCall) {
      end(connection, socketController);
      throw new Error(NO_LONGER_NEEDED);
    }
    this.connection = connection;
    this.socketController = socketController;
    connection.on('blocked', (reason) =>
      this.failAll(`RabbitMQ takes nothing now (${reason}): see rabbitmqctl status`),
    );
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    channel.on('return', ({ properties, fields }) =>
      this.publications.get(String(properties.messageId))?.(unroutable(fields.routingKey)),
    );
    await channel.assertExchange(EVENTS_NAME, 'topic', { durable: true });
    // A later call has closed this connection.
    if (call !== this.lastCall) throw new Error(NO_LONGER_NEEDED);
    this.channel = channel;
  }

  private failAll(reason: string): void {
    for (const settle of this.publications.values()) settle(reason);
  }

  /** Closes a connection that may never answer again. */
  private closeNow(): void {
    const { connection } = this;
    if (connection === undefined) return;
    this.connection = this.channel = undefined;
    this.failAll('the connection to RabbitMQ was closed');
    end(connection, this.socketController);
  }
}

function end(connection: ChannelModel, socketController: AbortController): void {
  connection.close().catch(() => undefined);
  // amqplib keeps its timers for some seconds unless the socket fails.
  socketController.abort();
}
