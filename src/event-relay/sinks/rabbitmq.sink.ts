import { setTimeout as delay } from 'node:timers/promises';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { brokerFailureOf, brokerName, caOf } from '../../messages/index.js';
import type { CloudEvent } from '../../feed/index.js';
import { BrokerSink, CONTENT_TYPE, EVENTS_NAME } from './broker.sink.js';

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

interface Session {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  /** The publications in flight, by the id of the event. */
  readonly publications: Map<string, Settle>;
  /** Destroys the socket of the connection. */
  readonly socketController: AbortController;
}

/** Publishes to a durable topic exchange of RabbitMQ. A queue must store each event. */
export class RabbitMqSink extends BrokerSink<Session> {
  readonly name: string;

  constructor(private readonly url: URL) {
    super();
    this.name = brokerName(url);
  }

  override async publish(event: CloudEvent): Promise<void> {
    const { id } = event;
    const { channel, publications } = this.session!;
    let timer: NodeJS.Timeout | undefined;
    const reason = await new Promise<string | undefined>((settle) => {
      publications.set(id, settle);
      timer = setTimeout(() => settle(`RabbitMQ gave no confirmation within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
      const options = { messageId: id, contentType: CONTENT_TYPE, persistent: true, mandatory: true };
      channel.publish(
        EVENTS_NAME,
        event.type,
        Buffer.from(JSON.stringify(event)),
        options,
        (error: unknown) =>
          settle(error ? `RabbitMQ did not store it (${(error as Error).message})` : undefined),
      );
    }).finally(() => {
      clearTimeout(timer);
      publications.delete(id);
    });
    if (reason !== undefined) throw new Error(reason);
  }

  protected override async open(): Promise<Session> {
    const url = new URL(this.url);
    if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
    const socketController = new AbortController();
    try {
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
      const publications = new Map<string, Settle>();
      connection.on('blocked', (reason) => {
        for (const settle of publications.values())
          settle(`RabbitMQ takes nothing now (${reason}): see rabbitmqctl status`);
      });
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => undefined);
      channel.on('return', ({ properties, fields }) =>
        publications.get(String(properties.messageId))?.(unroutable(fields.routingKey)),
      );
      await channel.assertExchange(EVENTS_NAME, 'topic', { durable: true });
      return { connection, channel, publications, socketController };
    } catch (error) {
      socketController.abort();
      throw new Error(`RabbitMQ is out of reach or refuses (${brokerFailureOf(error)})`, { cause: error });
    }
  }

  protected override async end({ connection, socketController }: Session): Promise<void> {
    // A broker that does not answer must not delay the shutdown.
    await Promise.race([
      connection.close().catch(() => undefined),
      delay(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    // amqplib keeps its timers for some seconds unless the socket fails.
    socketController.abort();
  }
}
